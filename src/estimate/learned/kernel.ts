/**
 * Similarity of requests: the logs of costs are a linear function plus a smooth surface (Matérn 5/2 kernel) with a
 * range for each number and a distance between categories. The settings hold these hyperparameters.
 */

/** Encoded requests, stored by rows. */
export interface Points {
  count: number
  /** Number of number columns, and of category columns. */
  wide: number
  kinds: number
  numbers: Float64Array
  levels: Int32Array
}

/** Logs of surface height, noise, slopes, category steps, then ranges, then category distances. */
export type Settings = Float64Array

export const [surfaceAt, noiseAt, slopeAt, stepAt, rangesAt] = [0, 1, 2, 3, 4] as const

/** Prior variance of the level of costs. */
export const levelVariance = 4

const sqrt5 = Math.sqrt(5)

/** Matérn 5/2 as a function of the squared distance. */
export function matern(square: number): number {
  const r = sqrt5 * Math.sqrt(square)
  return (1 + r + (r * r) / 3) * Math.exp(-r)
}

/** Minus twice its derivative with respect to `square`. */
export function maternSlope(square: number): number {
  const r = sqrt5 * Math.sqrt(square)
  return (5 / 3) * (1 + r) * Math.exp(-r)
}

/** Normal priors of the settings. */
export function priorsOf({ wide, kinds }: Points): { mean: number; deviation: number }[] {
  const ranges = Array.from({ length: wide }, () => ({ mean: Math.log(2.5), deviation: 1 }))
  const distances = Array.from({ length: kinds }, () => ({ mean: Math.log(0.5), deviation: 1 }))
  return [
    { mean: Math.log(0.5), deviation: 1 },
    { mean: Math.log(0.05), deviation: 1.5 },
    { mean: Math.log(0.7), deviation: 0.7 },
    { mean: Math.log(0.5), deviation: 0.7 },
    ...ranges,
    ...distances,
  ]
}

/** Table for linear interpolation, with 128 entries per unit of the squared distance. */
const perUnit = 128
const farthest = 32
const table = Float64Array.from({ length: farthest * perUnit + 2 }, (_, i) => matern(i / perUnit))

/** Approximates `matern`; 0 from a squared distance of 32. */
export function quickMatern(square: number): number {
  if (!(square < farthest)) return 0
  const at = square * perUnit
  const before = at | 0
  const low = table[before]!
  return low + (table[before + 1]! - low) * (at - before)
}
