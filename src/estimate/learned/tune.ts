/** Finds the kernel settings that maximize the likelihood of the measured costs. */

import { factor, invert, solve } from '../cholesky.ts'
import {
  levelVariance,
  matern,
  maternSlope,
  noiseAt,
  type Points,
  priorsOf,
  rangesAt,
  type Settings,
  slopeAt,
  stepAt,
  surfaceAt,
} from './kernel.ts'

/** Bounds of the settings, which are logs. */
const [least, most] = [-8, 5]
const [firstStride, longestStride, shortestStride] = [0.2, 1, 0.003]

/**
 * `values` are scaled to level 0 and deviation 1; `doubts` are factors on the noise. Descends by the signs of the
 * gradient (iRprop), starting at `from`.
 */
export function tune(
  points: Points,
  values: Float64Array,
  doubts: Float64Array,
  from: Settings,
  rounds: number,
): Settings {
  const settings = Float64Array.from(from)
  const slopes = new Float64Array(settings.length)
  const before = new Float64Array(settings.length)
  const strides = new Float64Array(settings.length).fill(firstStride)
  const matrices = matricesFor(points.count)
  let best = { unlikely: Number.POSITIVE_INFINITY, settings: from }
  for (let round = 0; round < rounds; round++) {
    const unlikely = slopesAt(points, values, doubts, settings, slopes, matrices)
    if (unlikely < best.unlikely) best = { unlikely, settings: Float64Array.from(settings) }
    for (let i = 0; i < settings.length; i++) {
      const turned = slopes[i]! * before[i]!
      if (turned > 0) strides[i] = Math.min(longestStride, strides[i]! * 1.3)
      else if (turned < 0) {
        strides[i] = strides[i]! * 0.5
        slopes[i] = 0
      }
      settings[i] = Math.max(least, Math.min(most, settings[i]! - Math.sign(slopes[i]!) * strides[i]!))
      before[i] = slopes[i]!
    }
    if (strides.every((stride) => stride < shortestStride)) break
  }
  return best.settings
}

/**
 * Entries by pair of rows, in the lower triangles. Each round overwrites them: new matrices for each would be 60 MB in a
 * search, and the memory allocator would keep it.
 */
interface Matrices {
  /** The covariance, and its factor afterwards. */
  matrix: Float64Array
  /** Squared distance, product of numbers, categories in common. */
  squares: Float64Array
  products: Float64Array
  shared: Float64Array
  /** Variance of the surface, reduced by differing categories. */
  shares: Float64Array
  inverse: Float64Array
  scratch: Float64Array
}

function matricesFor(rows: number): Matrices {
  const one = () => new Float64Array(rows * rows)
  return {
    ...{ matrix: one(), squares: one(), products: one(), shared: one(), shares: one() },
    ...{ inverse: one(), scratch: one() },
  }
}

/** What the entries are computed from. */
interface Scales {
  /** Variances of the noise, the slopes and the category steps. */
  variances: { noise: number; slope: number; step: number }
  /** By number: inverse squared range. By category: distance. */
  narrow: Float64Array
  apart: Float64Array
}

/** Writes the covariance of the rows, and the parts of its entries that the gradient needs. */
function fillCovariance(
  { count: n, wide, kinds, numbers, levels }: Points,
  doubts: Float64Array,
  settings: Settings,
  { squares, products, shared, shares, matrix }: Matrices,
): Scales {
  const [surface, noise, slope, step] = [surfaceAt, noiseAt, slopeAt, stepAt].map((at) =>
    Math.exp(2 * settings[at]!),
  ) as [number, number, number, number]
  const narrow = Float64Array.from({ length: wide }, (_, d) => Math.exp(-2 * settings[rangesAt + d]!))
  const apart = Float64Array.from({ length: kinds }, (_, c) => Math.exp(settings[rangesAt + wide + c]!))
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const at = i * n + j
      let [square, product, away, same] = [0, 0, 0, 0]
      for (let d = 0; d < wide; d++) {
        const [a, b] = [numbers[i * wide + d]!, numbers[j * wide + d]!]
        square += (a - b) * (a - b) * narrow[d]!
        product += a * b
      }
      for (let c = 0; c < kinds; c++) {
        if (levels[i * kinds + c] === levels[j * kinds + c]) same++
        else away += apart[c]!
      }
      squares[at] = square
      products[at] = product
      shared[at] = same
      shares[at] = surface * Math.exp(-away)
      matrix[at] = shares[at]! * matern(square) + slope * product + step * same + levelVariance
      matrix[j * n + i] = matrix[at]!
    }
    matrix[i * n + i]! += noise * doubts[i]! + 1e-8
  }
  return { variances: { noise, slope, step }, narrow, apart }
}

/** Returns the negative log likelihood of the values, and writes its gradient to `slopes`. */
function slopesAt(
  points: Points,
  values: Float64Array,
  doubts: Float64Array,
  settings: Settings,
  slopes: Float64Array,
  matrices: Matrices,
): number {
  const { count: n } = points
  const scales = fillCovariance(points, doubts, settings, matrices)
  const k = matrices.matrix
  if (factor(k, n) === undefined) return Number.POSITIVE_INFINITY
  const weights = Float64Array.from(values)
  solve(k, n, weights)
  let unlikely = 0
  for (let i = 0; i < n; i++) unlikely += Math.log(k[i * n + i]!) + 0.5 * values[i]! * weights[i]!
  slopes.fill(0)
  addSlopes(points, doubts, scales, matrices, weights, slopes)
  for (const [i, { mean, deviation }] of priorsOf(points).entries()) {
    const off = (settings[i]! - mean) / deviation
    unlikely += 0.5 * off * off
    slopes[i]! += off / deviation
  }
  return unlikely
}

/** Adds the likelihood's gradient. The covariance is already factored. */
function addSlopes(
  points: Points,
  doubts: Float64Array,
  { variances: { noise, slope, step }, narrow, apart }: Scales,
  { squares, products, shared, shares, matrix, inverse, scratch }: Matrices,
  weights: Float64Array,
  slopes: Float64Array,
): void {
  const { count: n, wide, kinds, numbers, levels } = points
  invert(matrix, n, scratch, inverse)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const at = i * n + j
      const weight = (inverse[at]! - weights[i]! * weights[j]!) * (i === j ? 0.5 : 1)
      const like = shares[at]! * matern(squares[at]!)
      slopes[surfaceAt]! += weight * 2 * like
      slopes[slopeAt]! += weight * 2 * slope * products[at]!
      slopes[stepAt]! += weight * 2 * step * shared[at]!
      if (i === j) slopes[noiseAt]! += weight * 2 * noise * doubts[i]!
      const bend = weight * shares[at]! * maternSlope(squares[at]!)
      for (let d = 0; d < wide; d++) {
        const off = numbers[i * wide + d]! - numbers[j * wide + d]!
        slopes[rangesAt + d]! += bend * off * off * narrow[d]!
      }
      for (let c = 0; c < kinds; c++) {
        if (levels[i * kinds + c] !== levels[j * kinds + c])
          slopes[rangesAt + wide + c]! -= weight * like * apart[c]!
      }
    }
  }
}
