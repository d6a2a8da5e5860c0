/** How close finished jobs come to breaking the promise. */

import type { UserPromise } from './promise.ts'

/** How far one job moves a size bound, in logarithms. */
const stride = 0.02
/** After this many jobs the size bounds are reliable. */
const settled = 3000
/** Slowdowns are capped, so that one extreme job does not outweigh all others. */
const worst = 20
/** The minimum sample of each kind. */
const enough = 30

export class Strain {
  readonly #promise: UserPromise
  readonly #memoryMs: number
  /** Logarithms of the largest short and the smallest large size, found by stochastic approximation. */
  #shortUpTo = 0
  #largeFrom = 0
  #jobs = 0
  /** Decaying sums. */
  readonly #sums = { short: 0, shortOver: 0, large: 0, largeSlowdown: 0, dated: 0, late: 0 }

  constructor(promise: UserPromise, memoryMs: number) {
    this.#promise = promise
    this.#memoryMs = memoryMs
  }

  finished(seconds: number, hereMs: number, late: boolean | undefined): void {
    const sums = this.#sums
    if (late !== undefined) {
      sums.dated++
      if (late) sums.late++
    }
    if (!(seconds > 0)) return
    const size = Math.log(seconds)
    const slowdown = hereMs / 1000 / seconds
    this.#moveBounds(size)
    if (this.#jobs < settled) return
    if (size <= this.#shortUpTo) {
      sums.short++
      if (slowdown > this.#promise.short.slowdown) sums.shortOver++
    }
    if (size >= this.#largeFrom) {
      sums.large++
      sums.largeSlowdown += Math.min(slowdown, worst)
    }
  }

  #moveBounds(size: number): void {
    const { short, largest } = this.#promise
    if (this.#jobs++ === 0) this.#shortUpTo = this.#largeFrom = size
    const pace = stride * Math.max(1, 100 / this.#jobs)
    this.#shortUpTo += pace * (size > this.#shortUpTo ? short.share : short.share - 1)
    this.#largeFrom += pace * (size > this.#largeFrom ? 1 - largest.share : -largest.share)
  }

  age(ms: number): void {
    const keep = Math.exp(-ms / this.#memoryMs)
    const sums = this.#sums
    for (const key of ['short', 'shortOver', 'large', 'largeSlowdown', 'dated', 'late'] as const)
      sums[key] *= keep
  }

  /** 1: the promise is just kept; more: it is broken; 0: nothing waits, or the sample is too small. */
  get value(): number {
    const { short, shortOver, large, largeSlowdown, dated, late } = this.#sums
    const { deadlinesPercent, ...promise } = this.#promise
    const ofLargest =
      large < enough ? 0 : Math.max(0, largeSlowdown / large - 1) / (promise.largest.slowdown - 1)
    const ofShort = short < enough ? 0 : shortOver / short / (1 - promise.short.percent / 100)
    const ofDeadlines =
      deadlinesPercent === undefined || dated < enough ? 0 : late / dated / (1 - deadlinesPercent / 100)
    return Math.max(ofLargest, ofShort, ofDeadlines)
  }
}
