/** What a model says of a request: how much, and how far off it may be. */

import type { Reading } from '../reading.ts'
import { type Encoded, encode } from './encoding.ts'
import type { Model } from './fit.ts'
import { rangesAt, surfaceAt } from './kernel.ts'
import { columnsOf, dot } from './surface.ts'

export interface Prediction {
  /** The log of the cost, and how far below and above it may lie: never quite 0. */
  log: number
  below: number
  above: number
  /** How alike the nearest post is, from 0 to 1. */
  nearest: number
  request: Encoded
}

/** No interval is narrower, nor narrower than so much of what misses are everywhere: nobody knows that well. */
const [narrowest, narrowestShare] = [0.002, 0.1]
/** How much the misses of all rows count beside those of rows that are alike. */
const everywhere = 0.02
/** A standard deviation further than anything seen, the cost may be off by so much of its own deviation. */
const perDeviation = 0.3
/** Nothing costs more, in logs, than the dearest so far and this. */
const farthest = Math.log(1e6)

export function predictor(model: Model): (reading: Reading) => Prediction {
  const { encoding, shape, weights, around, level, scale, seen } = model
  const n = weights.length
  const posts = shape.posts.count
  const row = new Float64Array(n)
  const columns = columnsOf(shape)
  const [everLow, everMiddle, everHigh] = [0, 1, 2].map((k) => around[3 * posts + k]!) as [
    number,
    number,
    number,
  ]
  const leastBelow = Math.max(narrowest, narrowestShare * (everMiddle - everLow))
  const leastAbove = Math.max(narrowest, narrowestShare * (everHigh - everMiddle))
  const height = Math.exp(shape.settings[surfaceAt]!) * scale
  // A number that costs do not depend on may be what it likes.
  const matters = seen.most.map((_, d) =>
    Math.min(1, Math.abs(weights[1 + d]!) + Math.exp(-shape.settings[rangesAt + d]!)),
  )
  return (reading) => {
    const request = encode(encoding, reading)
    columns(request, row)
    let total = everywhere
    let low = everywhere * everLow
    let middle = everywhere * everMiddle
    let high = everywhere * everHigh
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
    // Where nothing like it was seen, the surface is not known, and the line the less the further it goes.
    const unknown = height * Math.sqrt(Math.max(0, 1 - nearest * nearest)) + perDeviation * scale * beyond
    const log = level + scale * dot(weights, row) + middle / total
    return {
      log: Math.min(seen.highest + farthest, Math.max(seen.lowest - farthest, log)),
      below: Math.max(leastBelow, Math.hypot((middle - low) / total, unknown)),
      above: Math.max(leastAbove, Math.hypot((high - middle) / total, unknown)),
      nearest,
      request,
    }
  }
}
