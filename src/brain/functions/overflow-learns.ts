/** What attempts teach of functions and workers: how long they take, and when functions are better left alone. */

import type { Core } from '../core.ts'
import { ranMs } from '../jobs/mirror.ts'
import type { JobRecord } from '../state.ts'
import type { Overflow } from './overflow-state.ts'

/** Functions that turn jobs away or break are left alone for a while: so long, twice as long each time, at most. */
const [backoffMs, backoffMaxMs] = [500, 60_000]
/** How much of what is learned is new: what one attempt says of the functions' speed, and one launch of boots. */
const newPart = 0.2

/** The function has answered, also with an error of the workload's own. */
export function noteEnd(core: Core, record: JobRecord, work: number | undefined): void {
  const overflow = core.overflow!
  overflow.failures = 0
  overflow.warm.push(core.now)
  if (work === undefined || !(work > 0 && work < Infinity)) return
  const tookMs = core.now - record.sentAt
  const plainMs = (work / overflow.spec.workPerSecond) * 1000
  if (record.coldMs > 0) {
    const coldMs = Math.max(0, tookMs - plainMs * overflow.pace)
    overflow.coldMs += newPart * (coldMs - overflow.coldMs)
  } else overflow.pace = learned(overflow.pace, tookMs / plainMs)
}

/** A worker has done the job, in so much time on a core. */
export function noteFleet({ overflow, now }: Core, record: JobRecord, work: number): void {
  if (!overflow || !(work > 0 && work < Infinity)) return
  const tookMs = ranMs(record, now)
  const plainMs = (work / record.worker!.workPerSecond) * 1000
  // Where jobs share cores nobody knows what they had of them.
  if (tookMs > 0) overflow.fleetPace = learned(overflow.fleetPace, tookMs / plainMs)
}

/** The attempt has come to nothing there. What is the job's own fault is not the functions'. */
export function noteFailure(core: Core, cause: string): void {
  const overflow = core.overflow!
  const itsOwn = cause === 'crash' || cause === 'limit' || cause === 'error'
  if (itsOwn || overflow.spec.retries) return
  // Those that fail together are one failure.
  if (core.now >= overflow.notBefore) overflow.failures++
  if (cause !== 'throttled' && overflow.failures < 2) return
  const pauseMs = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(overflow.failures - 1, 50))
  overflow.notBefore = core.now + pauseMs
}

/** Those that were idle for too long are not warm any more. */
export function forgetCold({ warm, spec }: Overflow, now: number): void {
  while (warm.length > 0 && warm[0]! + spec.keepWarmMs < now) warm.shift()
}

/** Factors, so their logs are mixed. */
function learned(old: number, fresh: number): number {
  return old * (Math.min(1000, Math.max(0.001, fresh)) / old) ** newPart
}
