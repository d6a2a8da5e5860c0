/** What the brain says of a job beside what is to be done: nobody has to act on it, stories are made of it. */

import { thousandths } from '../../lib/quantities.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'

export function say(
  core: Core,
  type: 'pause' | 'resume' | 'revise' | 'retry',
  { job, attempt }: JobRecord,
  worker: WorkerRecord,
  reason: Reason,
): void {
  core.actions.push({ type, epoch: core.epoch, job: job.id, attempt, worker: worker.id, reason })
}

/** How long so much work takes there: thousandths of a millisecond will do. */
export function msOn({ workPerSecond }: WorkerRecord, work: number): number {
  return thousandths((work / workPerSecond) * 1000)
}
