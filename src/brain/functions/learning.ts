/** What attempts teach about functions and workers: how long they take, and when functions need a pause. */

import type { Core } from '../core.ts'
import { ranMs } from '../jobs/mirror.ts'
import { msOf } from '../jobs/times.ts'
import type { Attempt } from '../state.ts'
import type { Overflow } from './overflow-state.ts'

/** Functions that throttle or fail get no jobs for the first time; it doubles with each failure, up to the second. */
const [backoffMs, backoffMaxMs] = [500, 60_000]
/** The weight of one new observation. */
const newPart = 0.2

/** A function has answered, be it with an error of the workload. `work`: of a result, as it was measured. */
export function noteAnswer(core: Core, attempt: Attempt, work: number | undefined): void {
  const overflow = core.overflow!
  overflow.failures = 0
  overflow.warm.push(core.now)
  if (work === undefined || !(work > 0 && work < Infinity)) return
  const tookMs = core.now - attempt.sentAt
  const nominalMs = msOf(attempt.job, work, overflow.spec.workPerSecond)
  if (attempt.coldMs > 0) {
    const coldMs = Math.max(0, tookMs - nominalMs * overflow.pace)
    overflow.coldMs += newPart * (coldMs - overflow.coldMs)
  } else overflow.pace = learned(overflow.pace, tookMs / nominalMs)
}

/** A worker has finished the attempt. */
export function noteWorkerPace({ overflow, now }: Core, attempt: Attempt, work: number): void {
  if (!overflow || !(work > 0 && work < Infinity)) return
  const tookMs = ranMs(attempt, now)
  const nominalMs = msOf(attempt.job, work, attempt.worker.workPerSecond)
  // Where jobs share cores, their time on a core is not known.
  if (tookMs > 0) overflow.fleetPace = learned(overflow.fleetPace, tookMs / nominalMs)
}

const jobsFaults: ReadonlySet<string> = new Set(['crash', 'limit', 'cost-limit', 'error'])

/** An attempt in a function has failed. Failures that are the job's own fault say nothing about functions. */
export function noteFailure(core: Core, cause: string): void {
  const overflow = core.overflow!
  const isJobsFault = jobsFaults.has(cause)
  if (isJobsFault || overflow.spec.retries) return
  // Failures during a pause count as the one that began it.
  if (core.now >= overflow.notBefore) overflow.failures++
  if (cause !== 'throttled' && overflow.failures < 2) return
  const pauseMs = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(overflow.failures - 1, 50))
  overflow.notBefore = core.now + pauseMs
}

/** Functions that have been idle for too long are no longer warm. */
export function forgetCold({ warm, spec }: Overflow, now: number): void {
  while (warm.length > 0 && warm[0]! + spec.keepWarmMs < now) warm.shift()
}

/** A weighted geometric mean: paces are factors. */
function learned(old: number, fresh: number): number {
  return old * (Math.min(1000, Math.max(0.001, fresh)) / old) ** newPart
}
