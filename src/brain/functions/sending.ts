/** Jobs sent to functions, and what follows when an attempt there fails. */

import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { beginAttempt } from '../jobs/attempts.ts'
import { allowanceOf } from '../jobs/rate-limiting.ts'
import type { JobRecord } from '../state.ts'
import { forgetCold } from './learning.ts'

/** Failures of functions that pass soon: 429, 503, no answer in time. */
const transient: ReadonlySet<string> = new Set(['throttled', 'refused', 'timeout', 'function-silent'])

/** Sends the job, which nobody holds and which is not queued, to a function. */
export function sendToFunction(core: Core, record: JobRecord, reason: Reason): void {
  const overflow = core.overflow!
  const { worker, warm } = overflow
  core.scheduler.leaves?.(record)
  forgetCold(overflow, core.now)
  const isWarm = warm.pop() !== undefined
  const attempt = beginAttempt(core, record, worker, true)
  attempt.coldMs = isWarm ? 0 : overflow.coldMs
  attempt.running = true
  for (const started of core.hooks.started) started(core, attempt)
  const allowance = allowanceOf(core, record)
  core.actions.push({
    ...{ type: 'overflow', epoch: core.epoch, job: record.job.id, attempt: attempt.number },
    ...{ function: worker.id, ...(allowance && { allowance }), reason },
  })
}

/** An attempt in a function has failed: decides whether the job is tried in a function again, and when. */
export function noteFailedTry(core: Core, { functions }: JobRecord, cause: string): void {
  const use = functions!
  const { retries } = core.overflow!.spec
  // A function that was throttled may take the job another time.
  if (!retries) use.fleetOnly ||= cause !== 'throttled'
  else if (transient.has(cause) && use.tries < retries.most)
    use.retryAt = core.now + retries.backoffMs * 2 ** (use.tries - 1)
  else use.fleetOnly = true
}
