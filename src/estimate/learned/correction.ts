/** A linear fit through the model's errors on rows newer than the model, updated with each row. */

import type { Encoded } from './encoding.ts'

/** Prior standard deviations of the line's level and slopes, in logs. */
export interface Freedom {
  level: number
  slope: number
}

/** A new model needs little correction; a model of other code may be off by any factor. */
export const settled: Freedom = { level: 0.05, slope: 0.01 }
export const unsettled: Freedom = { level: 1, slope: 0.1 }

/** Features are clipped at this many standard deviations, which bounds the leverage of one request. */
const farthest = 3

/** Recursive least squares. */
export class Correction {
  readonly #weights: Float64Array
  readonly #covariance: Float64Array
  readonly #columns: Float64Array
  readonly #gains: Float64Array

  constructor(wide: number, { level, slope }: Freedom) {
    const n = wide + 1
    this.#weights = new Float64Array(n)
    this.#columns = new Float64Array(n)
    this.#gains = new Float64Array(n)
    this.#covariance = new Float64Array(n * n)
    for (let i = 0; i < n; i++) this.#covariance[i * n + i] = (i === 0 ? level : slope) ** 2
  }

  of(request: Encoded): number {
    this.#fill(request)
    let sum = 0
    for (let i = 0; i < this.#weights.length; i++) sum += this.#weights[i]! * this.#columns[i]!
    return sum
  }

  /** `miss` is the model's error without correction, `usual` its typical error. */
  learn(request: Encoded, miss: number, usual: number): void {
    const off = miss - this.of(request)
    const n = this.#weights.length
    // Outliers have less weight.
    let total = usual * usual * Math.max(1, (off / (4 * usual)) ** 2)
    for (let i = 0; i < n; i++) {
      let gain = 0
      for (let j = 0; j < n; j++) gain += this.#covariance[i * n + j]! * this.#columns[j]!
      this.#gains[i] = gain
      total += gain * this.#columns[i]!
    }
    for (let i = 0; i < n; i++) {
      const share = this.#gains[i]! / total
      this.#weights[i]! += share * off
      for (let j = 0; j < n; j++) this.#covariance[i * n + j]! -= share * this.#gains[j]!
    }
  }

  #fill({ numbers }: Encoded): void {
    this.#columns[0] = 1
    for (let d = 0; d < numbers.length; d++) {
      this.#columns[d + 1] = Math.max(-farthest, Math.min(farthest, numbers[d]!))
    }
  }
}
