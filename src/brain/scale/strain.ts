/** How near the promise is to being broken, as jobs that are over tell. */

import type { UserPromise } from './promise.ts'

export interface SavedStrain {
  /** Logarithms of the sizes up to which a job is short, and from which it is large. */
  shortUpTo: number
  largeFrom: number
  jobs: number
  /** Sums that fade: weights, and what they weigh. */
  short: number
  shortOver: number
  large: number
  largeSlowdown: number
  dated: number
  late: number
}

/** How far a bound of sizes moves by one job, in logarithms. */
const stride = 0.02
/** After so many jobs the bounds of sizes are about right. */
const settled = 3000
/** What is worse counts no more than this: one job that nobody noticed is not all of them. */
const worst = 20
/** Fewer jobs of a kind than these say nothing of it. */
const enough = 30

export class Strain {
  readonly #promise: UserPromise
  readonly #memoryMs: number
  #state: SavedStrain = {
    ...{ shortUpTo: 0, largeFrom: 0, jobs: 0 },
    ...{ short: 0, shortOver: 0, large: 0, largeSlowdown: 0, dated: 0, late: 0 },
  }

  constructor(promise: UserPromise, memoryMs: number) {
    this.#promise = promise
    this.#memoryMs = memoryMs
  }

  finished(seconds: number, hereMs: number, late: boolean | undefined): void {
    const state = this.#state
    const { short, largest } = this.#promise
    if (late !== undefined) {
      state.dated++
      if (late) state.late++
    }
    if (!(seconds > 0)) return
    const size = Math.log(seconds)
    const slowdown = hereMs / 1000 / seconds
    if (state.jobs++ === 0) state.shortUpTo = state.largeFrom = size
    // Nobody knows yet which jobs are short or large.
    const isEarly = state.jobs < settled
    const pace = stride * Math.max(1, 100 / state.jobs)
    state.shortUpTo += pace * (size > state.shortUpTo ? short.share : short.share - 1)
    state.largeFrom += pace * (size > state.largeFrom ? 1 - largest.share : -largest.share)
    if (isEarly) return
    if (size <= state.shortUpTo) {
      state.short++
      if (slowdown > short.slowdown) state.shortOver++
    }
    if (size >= state.largeFrom) {
      state.large++
      state.largeSlowdown += Math.min(slowdown, worst)
    }
  }

  age(ms: number): void {
    const keep = Math.exp(-ms / this.#memoryMs)
    const state = this.#state
    for (const key of ['short', 'shortOver', 'large', 'largeSlowdown', 'dated', 'late'] as const)
      state[key] *= keep
  }

  /** 1: what is promised is just what happens; more: it is broken; 0: nothing waits, or nothing is known. */
  get value(): number {
    const { short, shortOver, large, largeSlowdown, dated, late } = this.#state
    const { deadlinesPercent, ...promise } = this.#promise
    const ofLargest =
      large < enough ? 0 : Math.max(0, largeSlowdown / large - 1) / (promise.largest.slowdown - 1)
    const ofShort = short < enough ? 0 : shortOver / short / (1 - promise.short.percent / 100)
    const ofDeadlines =
      deadlinesPercent === undefined || dated < enough ? 0 : late / dated / (1 - deadlinesPercent / 100)
    return Math.max(ofLargest, ofShort, ofDeadlines)
  }

  save(): SavedStrain {
    return { ...this.#state }
  }

  load(saved: SavedStrain): void {
    this.#state = { ...saved }
  }
}
