/**
 * Chooses the jobs that are learned from and recorded. Estimates need hundreds of measurements a minute, not all of them:
 * of a workload with many short jobs, a random sample is enough.
 */

import { type Random, stream } from '../lib/random.ts'

/** Jobs of a workload up to this rate are all taken; of more, about as many. */
export const mostPerSecond = 200

interface Window {
  /** Its beginning, in milliseconds. */
  since: number
  count: number
  /** The part of the jobs that is taken. */
  share: number
}

export class LearningSample {
  readonly #random: Random
  readonly #windows = new Map<string, Window>()

  constructor(seed = 1) {
    this.#random = stream(seed, 'learning-sample')
  }

  /** True: this job is taken. `now`: when it ended, in milliseconds. */
  takes(workload: string, now: number): boolean {
    const window = this.#windowOf(workload, now)
    window.count++
    // A burst must not wait for the next window.
    if (window.count > mostPerSecond) window.share = Math.min(window.share, mostPerSecond / window.count)
    return window.share >= 1 || this.#random.next() < window.share
  }

  #windowOf(workload: string, now: number): Window {
    const last = this.#windows.get(workload)
    if (last && now - last.since < 1_000) return last
    const perSecond = last ? (last.count * 1_000) / (now - last.since) : 0
    const next = { since: now, count: 0, share: Math.min(1, mostPerSecond / perSecond) }
    this.#windows.set(workload, next)
    return next
  }
}
