/** When a rejected request may be sent again: the time in which the fleet makes room for it. */

import { spreadMs } from '../../lib/retry-times.ts'

/** What the fleet does in a second now, and what joins later. */
export interface ComingFleet {
  workPerSecond: number
  /** Workers that are booting: when each is expected to join, and its work per second. */
  coming: readonly { inMs: number; workPerSecond: number }[]
}

/** Predicted work at a moment: of queued jobs, what remains of jobs on workers, and what remains of jobs that have a core. */
export interface BacklogWork {
  at: number
  queued: number
  placed: number
  running: number
}

/** The time in which the fleet does this much work; Infinity: it never does. Without work: until it could do some. */
export function msToDo(work: number, { workPerSecond, coming }: ComingFleet): number {
  let rate = workPerSecond
  let at = 0
  let left = Math.max(0, work)
  for (const next of coming.toSorted((a, b) => a.inMs - b.inMs)) {
    const until = Math.max(at, next.inMs)
    const done = (rate * (until - at)) / 1000
    if (rate > 0 && done >= left) break
    left -= done
    at = until
    rate += next.workPerSecond
  }
  return rate > 0 ? at + (left / rate) * 1000 : Infinity
}

/** Longer waits are not announced: the fleet will be another one by then. */
export const longestMs = 3_600_000

/** The wait that a client is told, spread by the number of its job. */
export function toldMs(ms: number, number: number): number {
  return Math.round(Math.min(longestMs, spreadMs(ms, number)))
}

/**
 * Rejected requests that are expected to come back. Each one takes its predicted work of what the fleet does from now
 * on, so that the next one is told a later time.
 */
export class ExpectedReturns {
  #work = 0
  #at = 0

  /** The work of requests that were rejected before and for which the fleet had no time yet. */
  workAt(now: number, workPerSecond: number): number {
    this.#work = Math.max(0, this.#work - ((now - this.#at) / 1000) * workPerSecond)
    this.#at = now
    return this.#work
  }

  /** `most`: clients that do not come back, or come back too early, must not delay others for longer than this. */
  add(work: number, most: number): void {
    this.#work = Math.min(most, this.#work + work)
  }
}
