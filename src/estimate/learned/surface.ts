/**
 * The functional form of a model: a linear function, optional quadratic terms, and an optional smooth surface supported
 * by inducing points ("posts"), which are some of the measured requests. The model is linear in its weights.
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
  /** Number of levels of each category. */
  heights: readonly number[]
  posts: Points
}

/** Writes the columns of the design matrix for one request; the columns of the posts come last. */
export type Columns = (request: Encoded, out: Float64Array) => void

/** Scale of quadratic terms relative to linear ones: strong curvature is less likely. */
export const curvature = 0.5

export function columnCount({ parabola, heights, posts }: Shape): number {
  const { wide } = posts
  const pairs = parabola ? (wide * (wide + 1)) / 2 : 0
  return 1 + wide + pairs + heights.reduce((sum, height) => sum + height, 0) + posts.count
}

export function columnsOf({ parabola, settings, heights, posts }: Shape): Columns {
  const { wide, kinds, count } = posts
  const narrow = Float64Array.from({ length: wide }, (_, d) => Math.exp(-settings[rangesAt + d]!))
  // Factor on the similarity if a category differs.
  const factors = Float64Array.from({ length: kinds }, (_, c) =>
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
        for (let c = 0; c < kinds; c++) if (levels[c] !== posts.levels[p * kinds + c]) like *= factors[c]!
      }
      out[at++] = like
    }
  }
}

export interface Fit {
  weights: Float64Array
  /** Leave-one-out error of each row. */
  misses: Float64Array
}

/** `filled` is the design matrix; `values` are scaled to level 0 and deviation 1; `doubts` are factors on the noise. */
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

/** Keeps the equations well-conditioned when posts nearly coincide; with less, errors grew to 10⁴. */
const jitter = 1e-5

/** Lower triangle of the prior precision matrix of the weights. */
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

/** rowᵀ·A⁻¹·row, where `l` is A factored by `factor`: a sum of squares, so rounding cannot make it negative. */
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
