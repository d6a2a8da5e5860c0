/** Retries: what follows an attempt that failed. */

import { thousandths } from '../../lib/quantities.ts'
import type { FailureKind } from '../../model/attempt.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { noteFailedTry, sendToFunction } from '../functions/sending.ts'
import { worthFunction } from '../functions/worth.ts'
import type { Attempt, JobRecord } from '../state.ts'
import { announce, msOn } from './announcements.ts'
import { canAccept } from './eligible.ts'
import { conclude } from './ending.ts'
import { doneWork, isRunning } from './mirror.ts'
import { place, start } from './placing.ts'
import { holdBack } from './retry-pauses.ts'

export type RetryCause =
  | FailureKind
  | 'worker-lost'
  | 'worker-ended'
  | 'run-lost'
  /** An earlier brain began it at a worker that has not joined this one. */
  | 'not-joined'
  | 'function-silent'
  /** Its answer is late: its worker is alive, or was not asked. */
  | 'overdue'
  | 'timed-out'
  /** It stood still. */
  | 'stalled'

/** The attempt was lost with its worker, or on the way to it. */
const losses: ReadonlySet<string> = new Set(['worker-lost', 'worker-ended', 'run-lost', 'not-joined'])

/** Causes that do not speak against the worker, or against one that no longer exists. */
const blameless: ReadonlySet<string> = new Set([...losses, 'overdue'])

/** The attempt has ended without an answer: tries again elsewhere, unless a limit forbids it. */
export function retry(core: Core, attempt: Attempt, cause: RetryCause): void {
  const { record, worker } = attempt
  if (attempt.committed) {
    conclude(core, record, 'unknown', { code: 'outcome-unknown', cause })
    return
  }
  if (cause === 'crash' || cause === 'unready') record.crashes++
  if (cause === 'killed' || (cause === 'worker-lost' && isRunning(core, attempt))) record.losses++
  const exhausted = exhaustedLimit(core, record, cause)
  if (exhausted) {
    conclude(core, record, 'refused', exhausted)
    return
  }
  core.counters.retries++
  const afterMs = thousandths(core.now - attempt.sentAt)
  const doneMs = msOn(worker, attempt.job, doneWork(attempt, core.now))
  announce(core, 'retry', attempt, { code: cause, afterMs, doneMs })
  if (attempt.inFunction) noteFailedTry(core, record, cause)
  else if (!blameless.has(cause) && (cause !== 'timed-out' || core.limits.answers?.excludes)) {
    record.excluded ??= new Set()
    record.excluded.add(worker.id)
    core.scheduler.failed?.(worker, record, core.now)
  }
  for (const retries of core.hooks.retries) retries(core, record)
  if (cause === 'overdue' && canAccept(core, worker, record))
    return start(core, record, worker, { code: 'sent-again', times: record.resent })
  const overflow = core.overflow?.spec.afterFailure && !attempt.inFunction && worthFunction(core, record)
  if (overflow) sendToFunction(core, record, overflow)
  else if (attempt.inFunction || !holdBack(core, record, losses.has(cause), doneMs)) place(core, record)
}

/** Retries jobs whose attempts have ended together. */
export function retryAll(core: Core, attempts: readonly Attempt[], cause: RetryCause): void {
  core.retrying = [...attempts]
  for (const attempt of attempts) {
    core.retrying.shift()
    retry(core, attempt, cause)
  }
}

/** Why the job must not be tried again; undefined: it may be. */
function exhaustedLimit({ limits }: Core, record: JobRecord, cause: RetryCause): Reason | undefined {
  const { crashes, losses, attempts, functions } = record
  if (crashes >= limits.crashes || losses >= limits.losses)
    return cause === 'unready' ? { code: cause, tries: crashes } : { code: 'poison', crashes, losses }
  const { retries } = limits
  const retried = attempts - (functions?.tries ?? 0) - 1
  if (retries !== null && retried >= retries) return { code: 'retries', retries, cause }
  return attempts >= limits.attempts ? { code: 'attempts', attempts, cause } : undefined
}
