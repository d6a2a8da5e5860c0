/** Attempts begin and end here, and nowhere else. */

import { shareOf } from '../../model/discipline.ts'
import type { Core } from '../core.ts'
import { type Attempt, type JobRecord, takeOut, type WorkerRecord } from '../state.ts'
import { clearTimer } from '../timers.ts'
import { mirror } from './mirror.ts'
import { untilOn } from './precedence.ts'

/** Gives the job, which nobody holds, to a worker or function. `started` hooks and messages are the caller's part. */
export function beginAttempt(
  core: Core,
  record: JobRecord,
  worker: WorkerRecord,
  inFunction: boolean,
): Attempt {
  record.attempts++
  const attempt = newAttempt(core.epoch, record, worker, core.now, inFunction)
  record.attempt = attempt
  record.until = untilOn(worker, record)
  worker.jobs.push(attempt)
  worker.usedMb += record.job.memoryMb
  return attempt
}

/** Ends the attempt. `work`: what it did, if that was measured. */
export function endAttempt(core: Core, attempt: Attempt, work?: number): void {
  const { record, worker } = attempt
  for (const ended of core.hooks.ended) ended(core, attempt, work)
  attempt.timer = clearTimer(core, attempt.timer)
  const isMeasured = work !== undefined && work >= 0 && work < Infinity
  record.spent += isMeasured ? work : attempt.reportedDone
  takeOut(worker.jobs, attempt)
  worker.usedMb -= attempt.job.memoryMb
  // Sums of fractions are not exact, so an empty worker starts from 0 again.
  if (worker.jobs.length === 0) worker.usedMb = 0
  record.attempt = undefined
}

/** Ends the attempt; its worker goes on with the others. */
export function releaseAttempt(core: Core, attempt: Attempt, work?: number): void {
  endAttempt(core, attempt, work)
  mirror(core, attempt.worker)
  core.scheduler.refile(attempt.worker)
}

// Written out field by field: a spread makes an object of this size ten times as slow to create.

export function newAttempt(
  epoch: number,
  record: JobRecord,
  worker: WorkerRecord,
  now: number,
  inFunction: boolean,
): Attempt {
  const { job } = record
  return {
    record,
    job,
    epoch,
    number: record.attempts,
    worker,
    inFunction,
    preemptible: job.preemptible ?? true,
    sharesUntil: inFunction ? 0 : shareOf(job, worker.workPerSecond),
    sentAt: now,
    committed: false,
    answering: false,
    seenIn: worker.reports,
    running: false,
    waiting: false,
    done: 0,
    since: now,
    ranMs: 0,
    pausedAt: -1,
    rank: 0,
    reportedDone: 0,
    expected: record.expected,
    reviseAt: record.reviseAt,
    counted: 0,
    coldMs: 0,
    timer: undefined,
    watch: undefined,
    asked: undefined,
  }
}
