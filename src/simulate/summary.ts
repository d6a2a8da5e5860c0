/** Response times and slowdowns of a run. Slowdown: time in the system, divided by the time alone on a nominal core. */

import { Numbers } from './numbers.ts'

export interface Summary {
  jobs: number
  refused: number
  /** Jobs dropped after their queue timeout. */
  dropped: number
  meanResponseMs: number
  p50ResponseMs: number
  p99ResponseMs: number
  meanSlowdown: number
  p99Slowdown: number
  /** Of the shortest 90 %. */
  shortP99Slowdown: number
  /** Mean slowdown of the largest 1 %. */
  largestSlowdown: number
  maxSlowdown: number
}

/** Collects answers and summarises them. */
export class Answers {
  readonly #sizeMs = new Numbers()
  readonly #responseMs = new Numbers()
  refused = 0
  dropped = 0

  add(sizeMs: number, responseMs: number): void {
    this.#sizeMs.push(sizeMs)
    this.#responseMs.push(responseMs)
  }

  get count(): number {
    return this.#sizeMs.length
  }

  summary(): Summary {
    const { count } = this
    const sizes = this.#sizeMs.view().slice().sort()
    const shortMs = quantile(sizes, 0.9)
    const largeMs = quantile(sizes, 0.99)
    const slowdowns = new Float64Array(count)
    const short: number[] = []
    const largest: number[] = []
    for (let i = 0; i < count; i++) {
      const sizeMs = this.#sizeMs.at(i)
      slowdowns[i] = this.#responseMs.at(i) / sizeMs
      if (sizeMs <= shortMs) short.push(slowdowns[i]!)
      if (sizeMs >= largeMs) largest.push(slowdowns[i]!)
    }
    slowdowns.sort()
    const response = this.#responseMs.view().slice().sort()
    return {
      jobs: count,
      refused: this.refused,
      dropped: this.dropped,
      meanResponseMs: mean(response),
      p50ResponseMs: quantile(response, 0.5),
      p99ResponseMs: quantile(response, 0.99),
      meanSlowdown: mean(slowdowns),
      p99Slowdown: quantile(slowdowns, 0.99),
      shortP99Slowdown: quantile(Float64Array.from(short).sort(), 0.99),
      largestSlowdown: mean(largest),
      maxSlowdown: slowdowns[count - 1] ?? Number.NaN,
    }
  }
}

export function mean(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return values.length === 0 ? Number.NaN : sum / values.length
}

/** `sorted` must be ascending. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted.length === 0
    ? Number.NaN
    : sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!
}

/** Takes values in any order. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}
