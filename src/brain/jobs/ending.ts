/** How jobs end: exactly one answer for the client, and nothing left behind. */

import type { Outcome } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { Attempt, JobRecord } from '../state.ts'
import { announce } from './announcements.ts'
import { releaseAttempt } from './attempts.ts'
import { doneWork } from './mirror.ts'
import { fill } from './placing.ts'
import { allowanceAfter } from './rate-limiting.ts'
import { withRetryAfter } from './refusals.ts'

/** Answers a job that nobody holds. */
export function conclude(core: Core, record: JobRecord, outcome: Outcome, reason: Reason): void {
  answer(core, record, outcome, reason)
  forget(core, record)
}

/** Answers a job whose attempt has just ended. */
export function endWith(core: Core, attempt: Attempt, outcome: Outcome, reason: Reason, work?: number): void {
  answer(core, attempt.record, outcome, reason)
  releaseAttempt(core, attempt, work)
  forget(core, attempt.record)
  fill(core, attempt.worker)
}

/** Ends a job wherever it is, without an answer. */
export function withdraw(core: Core, record: JobRecord, reason: Reason): void {
  const { attempt } = record
  if (attempt) {
    releaseAttempt(core, attempt, doneWork(attempt, core.now))
    announce(core, 'cancel', attempt, reason)
  }
  forget(core, record)
  if (attempt) fill(core, attempt.worker)
}

export function answer(core: Core, record: JobRecord, outcome: Outcome, reason: Reason): void {
  const { counters } = core
  if (outcome === 'result') counters.results++
  else if (outcome === 'error') counters.errors++
  else if (outcome === 'unknown') counters.unknown++
  else if (outcome === 'dropped') counters.dropped++
  else counters.refused++
  const isRejected = outcome === 'refused' || outcome === 'dropped'
  // After an attempt, what `run` said is told: the cost of the attempt is not known yet.
  const allowance = isRejected && !record.attempt ? allowanceAfter(core, record) : undefined
  core.actions.push({
    ...{ type: 'answer', job: record.job.id, outcome },
    ...(allowance && { allowance }),
    reason: isRejected ? withRetryAfter(core, record, reason) : reason,
  })
}

function forget(core: Core, record: JobRecord): void {
  core.queue.remove(record)
  core.scheduler.leaves?.(record)
  core.jobs.delete(record.job.id)
  for (const over of core.hooks.over) over(core, record)
}
