/**
 * Predictions far outside the measured range. Measurements of a narrow range determine neither a curvature nor, far away,
 * a slope: a model that fits 5,000 to 5,100 to the per mille may be off by any factor at a million.
 */

import type { Encoded } from './encoding.ts'
import type { Model } from './fit.ts'
import { curvature } from './surface.ts'

export interface Extrapolation {
  /** The request, moved to where the model's form still holds. */
  within: Encoded
  /** What the scaled prediction changes from there to the request, along the slope there. */
  rise: number
  /** Spread of the prediction in logs, beyond what its errors within the range tell. */
  unchecked: number
}

/** Beyond the measured range by its own width, a model is continued by a line. */
const widths = 1

/** `matters`: how far costs depend on each number, from 0 to 1. */
export function extrapolation(
  model: Pick<Model, 'encoding' | 'shape' | 'weights' | 'seen'>,
  matters: readonly number[],
): (request: Encoded) => Extrapolation {
  const { encoding, seen } = model
  const slopes = slopesOf(model)
  return (request) => {
    const numbers = request.numbers.slice()
    let unchecked = 0
    let isFar = false
    for (const [d, value] of request.numbers.entries()) {
      const [least, most] = [seen.least[d]!, seen.most[d]!]
      const by = Math.max(0, value - most, least - value)
      if (by === 0) continue
      const width = most - least
      const { look, deviation } = encoding.numbers[d]!
      // An exponent may be off by one where the range is left by more than its width; nearer, by less.
      const ratio = look === 'raw' ? Math.log1p(by / width) : by * deviation
      unchecked += matters[d]! * ratio * Math.min(1, by / width) ** 2
      numbers[d] = Math.min(most + widths * width, Math.max(least - widths * width, value))
      isFar ||= numbers[d] !== value
    }
    if (!isFar) return { within: request, rise: 0, unchecked }
    const within = { ...request, numbers }
    const rise = slopes(numbers).reduce(
      (sum, slope, d) => sum + slope * (request.numbers[d]! - numbers[d]!),
      0,
    )
    return { within, rise, unchecked }
  }
}

/** Slopes of the linear and quadratic terms; far outside the range, the surface is flat. */
function slopesOf({ shape, weights }: Pick<Model, 'shape' | 'weights'>): (at: Float64Array) => number[] {
  const { wide } = shape.posts
  return (at) => {
    const slopes = Array.from({ length: wide }, (_, d) => weights[1 + d]!)
    if (!shape.parabola) return slopes
    let next = 1 + wide
    for (let d = 0; d < wide; d++) {
      for (let e = 0; e <= d; e++) {
        const weight = weights[next++]! * curvature
        slopes[d]! += weight * at[e]!
        slopes[e]! += weight * at[d]!
      }
    }
    return slopes
  }
}
