/** Predicts a request's cost and the spread of the prediction. */

import type { Reading } from '../reading.ts'
import type { Encoding } from './encoding.ts'
import { type Encoded, encode } from './encoding.ts'
import { extrapolation } from './extrapolation.ts'
import type { Model } from './fit.ts'
import { rangesAt, surfaceAt } from './kernel.ts'
import { columnsOf, dot } from './surface.ts'

export interface Prediction {
  /** Log of the cost, and the spread below and above it, always above 0. */
  log: number
  below: number
  above: number
  /** Further spread, far outside the measured range, that errors within the range say nothing about. */
  unchecked: number
  /** Similarity of the nearest inducing point, from 0 to 1. */
  nearest: number
  request: Encoded
}

/** Lower bound of a spread: 0.002, and 10 % of the spread over all rows. */
const [narrowest, narrowestShare] = [0.002, 0.1]
/** Weight of the errors of all rows, relative to an identical point. */
const baseWeight = 0.02
/** Spread per standard deviation outside the measured range, as a share of the deviation of costs. */
const perDeviation = 0.3
/** Spread of a number that never varied before: at least a factor of 1.5, at most one of 100. */
const [leastUnknown, mostUnknown] = [Math.log(1.5), Math.log(100)]
/**
 * A prediction is at most a factor of a million above the measured costs, and at most one of 30 below them: every request
 * has a fixed part, and an estimate near nothing is no use to any decision.
 */
const [farthestBelow, farthestAbove] = [Math.log(30), Math.log(1e6)]

export function predictor(model: Model): (reading: Reading) => Prediction {
  const { encoding, shape, weights, around, level, scale, seen } = model
  const n = weights.length
  const posts = shape.posts.count
  const row = new Float64Array(n)
  const columns = columnsOf(shape)
  const [allLow, allMiddle, allHigh] = [0, 1, 2].map((k) => around[3 * posts + k]!) as [
    number,
    number,
    number,
  ]
  const leastBelow = Math.max(narrowest, narrowestShare * (allMiddle - allLow))
  const leastAbove = Math.max(narrowest, narrowestShare * (allHigh - allMiddle))
  const height = Math.exp(shape.settings[surfaceAt]!) * scale
  // A number that costs do not depend on may leave its range without effect.
  const matters = seen.most.map((_, d) =>
    Math.min(1, Math.abs(weights[1 + d]!) + Math.exp(-shape.settings[rangesAt + d]!)),
  )
  const extrapolate = extrapolation(model, matters)
  return (reading) => {
    const request = encode(encoding, reading)
    const { within, rise, unchecked } = extrapolate(request)
    columns(within, row)
    let total = baseWeight
    let low = baseWeight * allLow
    let middle = baseWeight * allMiddle
    let high = baseWeight * allHigh
    let nearest = 0
    for (let p = 0; p < posts; p++) {
      const like = row[n - posts + p]!
      if (like < 0.05) continue
      if (like > nearest) nearest = like
      const share = like * like * like * like
      total += share
      low += share * around[3 * p]!
      middle += share * around[3 * p + 1]!
      high += share * around[3 * p + 2]!
    }
    let beyond = 0
    for (let d = 0; d < request.numbers.length; d++) {
      const by = Math.max(0, request.numbers[d]! - seen.most[d]!, seen.least[d]! - request.numbers[d]!)
      beyond += by * matters[d]!
    }
    // Far from all points the surface is unknown, and the line becomes less certain with distance.
    const unknown =
      height * Math.sqrt(Math.max(0, 1 - nearest * nearest)) +
      perDeviation * scale * beyond +
      neverVaried(encoding.constants ?? [], reading)
    const log = level + scale * (dot(weights, row) + rise) + middle / total
    return {
      log: Math.min(seen.highest + farthestAbove, Math.max(seen.lowest - farthestBelow, log)),
      below: Math.max(leastBelow, Math.hypot((middle - low) / total, unknown)),
      above: Math.max(leastAbove, Math.hypot((high - middle) / total, unknown)),
      unchecked,
      nearest,
      request,
    }
  }
}

/** Spread for numbers that had the same value in all measurements, and have another one now: costs may follow them. */
function neverVaried(constants: NonNullable<Encoding['constants']>, { numbers }: Reading): number {
  let spread = 0
  for (const { name, value } of constants) {
    const now = numbers.get(name)
    if (now === undefined || now === value) continue
    const ratio = Math.abs(Math.log((1 + Math.abs(now)) / (1 + Math.abs(value))))
    spread += Math.min(mostUnknown, leastUnknown + ratio)
  }
  return spread
}
