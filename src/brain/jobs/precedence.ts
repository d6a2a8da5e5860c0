/** The precedence of jobs, and what workers are told of it. */

import type { Precedence } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { Attempt, JobRecord, WorkerRecord } from '../state.ts'
import { speedOf } from './times.ts'

/** `aheadMs` as work of that worker. */
export function untilOn({ workPerSecond }: WorkerRecord, { aheadMs, job }: JobRecord): number {
  return (aheadMs / 1000) * workPerSecond * speedOf(job)
}

/** Undefined: the job has none. */
export function precedenceOf({ tier, until, due }: JobRecord): Precedence | undefined {
  return tier > 0 || until > 0 ? { tier, until, due } : undefined
}

/** Tells the worker the job's precedence. A function runs one job at a time, so it need not know. */
export function sendPrecedence(core: Core, attempt: Attempt, reason: Reason): void {
  if (attempt.inFunction) return
  const { tier, until, due } = attempt.record
  core.actions.push({
    ...{ type: 'rank', epoch: attempt.epoch, job: attempt.job.id, attempt: attempt.number },
    ...{ worker: attempt.worker.id, precedence: { tier, until, due }, reason },
  })
}

/** The worker was disconnected, and may have missed messages. */
export function repeatPrecedence(core: Core, worker: WorkerRecord): void {
  for (const attempt of worker.jobs)
    if (precedenceOf(attempt.record)) sendPrecedence(core, attempt, { code: 'said-again' })
}
