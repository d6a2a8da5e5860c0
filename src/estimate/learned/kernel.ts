/**
 * How alike two requests are: through the logs of costs goes a straight line, and around it a smooth surface (Matérn
 * 5/2) with a range for each number and a distance between categories. What both are made of is in the settings.
 */

/** Requests by rows, as `encode` gives them. */
export interface Points {
  count: number
  /** Columns of numbers, and of categories. */
  wide: number
  kinds: number
  numbers: Float64Array
  levels: Int32Array
}

/** Logs of: the surface's height, the noise, the line's slopes, the categories' steps, then ranges, then distances. */
export type Settings = Float64Array

export const [surfaceAt, noiseAt, slopeAt, stepAt, rangesAt] = [0, 1, 2, 3, 4] as const

/** The level of all costs, before anything is known of them. */
export const levelVariance = 4

const sqrt5 = Math.sqrt(5)

/** Matérn 5/2; `square` is that of the distance. */
export function matern(square: number): number {
  const r = sqrt5 * Math.sqrt(square)
  return (1 + r + (r * r) / 3) * Math.exp(-r)
}

/** Minus twice its slope with `square`. */
export function maternSlope(square: number): number {
  const r = sqrt5 * Math.sqrt(square)
  return (5 / 3) * (1 + r) * Math.exp(-r)
}

/** What is believed of the settings before there are data: the means of their logs, and how sure that is. */
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

/** Looked up where it is needed often: entries for squares from 0 on, by 128ths, and straight lines between them. */
const perUnit = 128
const farthest = 32
const table = Float64Array.from({ length: farthest * perUnit + 2 }, (_, i) => matern(i / perUnit))

/** Nearly `matern`, and 0 from a square of 32 on. */
export function quickMatern(square: number): number {
  if (!(square < farthest)) return 0
  const at = square * perUnit
  const before = at | 0
  const low = table[before]!
  return low + (table[before + 1]! - low) * (at - before)
}
