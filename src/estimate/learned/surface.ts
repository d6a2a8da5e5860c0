/**
 * The shape of a model of the logs of costs: a straight line, at choice a parabola, and at choice a smooth surface
 * that hangs on posts, which are some of the requests that were seen. It is linear in its weights.
 */

import { factor, solve } from '../cholesky.ts'
import type { Encoded } from './encoding.ts'
import {
  levelVariance,
  noiseAt,
  type Points,
  quickMatern,
  rangesAt,
  type Settings,
  slopeAt,
  stepAt,
  surfaceAt,
} from './kernel.ts'

export interface Shape {
  parabola: boolean
  settings: Settings
  /** How many levels each category has. */
  heights: readonly number[]
  posts: Points
}

/** Writes the columns of one request, which weights are multiplied with; those of the posts come last. */
export type Columns = (request: Encoded, out: Float64Array) => void

/** A parabola's curves are less likely to be steep than its lines. */
const curvature = 0.5

export function columnCount({ parabola, heights, posts }: Shape): number {
  const { wide } = posts
  const pairs = parabola ? (wide * (wide + 1)) / 2 : 0
  return 1 + wide + pairs + heights.reduce((sum, height) => sum + height, 0) + posts.count
}

export function columnsOf({ parabola, settings, heights, posts }: Shape): Columns {
  const { wide, kinds, count } = posts
  const narrow = Float64Array.from({ length: wide }, (_, d) => Math.exp(-settings[rangesAt + d]!))
  // What is left of a likeness if a category differs.
  const leaves = Float64Array.from({ length: kinds }, (_, c) =>
    Math.exp(-Math.exp(settings[rangesAt + wide + c]!)),
  )
  const known = posts.numbers.map((value, at) => value * narrow[at % wide]!)
  const here = new Float64Array(wide)
  return ({ numbers, levels }, out) => {
    let at = 0
    out[at++] = 1
    for (let d = 0; d < wide; d++) {
      out[at++] = numbers[d]!
      here[d] = numbers[d]! * narrow[d]!
    }
    if (parabola) {
      for (let d = 0; d < wide; d++) {
        for (let e = 0; e <= d; e++) out[at++] = numbers[d]! * numbers[e]! * curvature
      }
    }
    for (let c = 0; c < kinds; c++) {
      for (let level = 0; level < heights[c]!; level++) out[at++] = levels[c] === level ? 1 : 0
    }
    for (let p = 0; p < count; p++) {
      let square = 0
      for (let d = 0; d < wide; d++) {
        const off = here[d]! - known[p * wide + d]!
        square += off * off
      }
      let like = quickMatern(square)
      if (like > 0) {
        for (let c = 0; c < kinds; c++) if (levels[c] !== posts.levels[p * kinds + c]) like *= leaves[c]!
      }
      out[at++] = like
    }
  }
}

export interface Fit {
  weights: Float64Array
  /** By row: how far off the others alone would have been. */
  misses: Float64Array
}

/** `filled`: the rows' columns. `values` have a level near 0 and a scale near 1. `doubts`: times the usual noise. */
export function fitWeights(
  shape: Shape,
  filled: Float64Array,
  values: Float64Array,
  doubts: Float64Array,
): Fit | undefined {
  const n = columnCount(shape)
  const noise = Math.exp(2 * shape.settings[noiseAt]!) + 1e-6
  const precision = priorsOf(shape, n)
  const weights = new Float64Array(n)
  for (let i = 0; i < values.length; i++) {
    const row = filled.subarray(i * n, (i + 1) * n)
    const sure = 1 / (noise * doubts[i]!)
    for (let a = 0; a < n; a++) {
      const by = row[a]! * sure
      if (by === 0) continue
      weights[a]! += by * values[i]!
      for (let b = 0; b <= a; b++) precision[a * n + b]! += by * row[b]!
    }
  }
  for (let a = 0; a < n; a++) for (let b = 0; b < a; b++) precision[b * n + a] = precision[a * n + b]!
  if (factor(precision, n) === undefined) return undefined
  solve(precision, n, weights)
  const half = new Float64Array(n)
  const misses = Float64Array.from(values, (value, i) => {
    const row = filled.subarray(i * n, (i + 1) * n)
    // How much of its own value a row gets back.
    const held = Math.min(1 - 1e-6, variance(precision, row, half) / (noise * doubts[i]!))
    return (value - dot(weights, row)) / (1 - held)
  })
  return { weights, misses }
}

/** Posts that are nearly the same make equations that rounding decides; with less of this, misses came out as large as 10⁴. */
const jitter = 1e-5

/** How sure the weights are without any data: the lower triangle of the inverse of their covariance. */
function priorsOf(shape: Shape, n: number): Float64Array {
  const { parabola, settings, heights, posts } = shape
  const [height, slope, step] = [surfaceAt, slopeAt, stepAt].map((at) => Math.exp(2 * settings[at]!)) as [
    number,
    number,
    number,
  ]
  const precision = new Float64Array(n * n)
  const { wide, kinds, count } = posts
  const lines = wide + (parabola ? (wide * (wide + 1)) / 2 : 0)
  const steps = heights.reduce((sum, levels) => sum + levels, 0)
  precision[0] = 1 / levelVariance
  for (let i = 1; i <= lines + steps; i++) precision[i * n + i] = 1 / (i <= lines ? slope : step)
  const first = 1 + lines + steps
  const likes = columnsOf({ ...shape, parabola: false, heights: heights.map(() => 0) })
  const row = new Float64Array(1 + wide + count)
  for (let p = 0; p < count; p++) {
    const numbers = posts.numbers.subarray(p * wide, (p + 1) * wide)
    likes({ numbers, levels: posts.levels.subarray(p * kinds, (p + 1) * kinds) }, row)
    for (let q = 0; q <= p; q++) precision[(first + p) * n + first + q] = row[1 + wide + q]! / height
    precision[(first + p) * n + first + p]! += jitter / height
  }
  return precision
}

/** rowᵀ·A⁻¹·row, where `l` is what `factor` left of A: as a sum of squares, which rounding cannot make negative. */
function variance(l: Float64Array, row: Float64Array, half: Float64Array): number {
  const n = row.length
  let sum = 0
  for (let i = 0; i < n; i++) {
    let rest = row[i]!
    for (let k = 0; k < i; k++) rest -= l[i * n + k]! * half[k]!
    half[i] = rest / l[i * n + i]!
    sum += half[i]! * half[i]!
  }
  return sum
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
