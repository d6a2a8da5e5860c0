/** Measured requests as a fit needs them: encoded, their costs around 0 and about as far from it as 1. */

import type { Reading } from '../reading.ts'
import { type Encoded, type Encoding, encode } from './encoding.ts'
import type { Points } from './kernel.ts'

export interface FitRow {
  reading: Reading
  /** The log of what it cost. */
  log: number
  /** Times the usual noise: 1, or more for a row that may no longer be true. */
  doubt: number
}

/** Rows as a fit needs them. */
export interface Data {
  requests: Encoded[]
  heights: number[]
  values: Float64Array
  doubts: Float64Array
  level: number
  scale: number
}

export function dataOf(rows: readonly FitRow[], encoding: Encoding): Data {
  const logs = rows.map(({ log }) => log).toSorted((a, b) => a - b)
  const level = logs[logs.length >> 1]!
  // Of the rows in the middle: an outlier must not set the scale.
  const inner = logs.slice(Math.floor(logs.length * 0.02), Math.ceil(logs.length * 0.98))
  const scale = Math.sqrt(inner.reduce((sum, log) => sum + (log - level) ** 2, 0) / inner.length) || 1
  return {
    requests: rows.map(({ reading }) => encode(encoding, reading)),
    heights: encoding.categories.map(({ levels }) => levels.length),
    values: Float64Array.from(rows, ({ log }) => (log - level) / scale),
    doubts: Float64Array.from(rows, ({ doubt }) => doubt),
    level,
    scale,
  }
}

export function some(data: Data, keep: (index: number) => boolean): Data {
  const indices = data.requests.map((_, i) => i).filter(keep)
  return {
    ...data,
    requests: indices.map((i) => data.requests[i]!),
    values: Float64Array.from(indices, (i) => data.values[i]!),
    doubts: Float64Array.from(indices, (i) => data.doubts[i]!),
  }
}

/** Spread evenly over the rows. */
export function evenly(data: Data, count: number): Data {
  const n = data.requests.length
  if (n <= count) return data
  return some(data, (i) => Math.floor((i * count) / n) !== Math.floor(((i - 1) * count) / n))
}

export function pointsOf({ requests, heights }: Data, wide: number): Points {
  const kinds = heights.length
  const numbers = new Float64Array(requests.length * wide)
  const levels = new Int32Array(requests.length * kinds)
  for (const [i, request] of requests.entries()) {
    numbers.set(request.numbers, i * wide)
    levels.set(request.levels, i * kinds)
  }
  return { count: requests.length, wide, kinds, numbers, levels }
}

export function wideOf({ requests }: Data): number {
  return requests[0]!.numbers.length
}
