/** Actions about one attempt. All but `cancel` only tell what the brain knows; nobody acts on them. */

import { thousandths } from '../../lib/quantities.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { Attempt, WorkerRecord } from '../state.ts'
import { msOf } from './times.ts'

export function announce(
  core: Core,
  type: 'adopt' | 'pause' | 'resume' | 'revise' | 'retry' | 'cancel',
  { epoch, job, number, worker }: Attempt,
  reason: Reason,
): void {
  core.actions.push({ type, epoch, job: job.id, attempt: number, worker: worker.id, reason })
}

/** The time that this work of the job takes on the worker, to a thousandth of a millisecond. */
export function msOn({ workPerSecond }: WorkerRecord, job: Job, work: number): number {
  return thousandths(msOf(job, work, workPerSecond))
}
