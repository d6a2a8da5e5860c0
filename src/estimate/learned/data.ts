/** Measured requests prepared for a fit: encoded, with costs scaled to level 0 and deviation 1. */

import type { Reading } from '../reading.ts'
import { type Encoded, type Encoding, encode } from './encoding.ts'
import type { Points } from './kernel.ts'

export interface FitRow {
  reading: Reading
  /** Log of the cost. */
  log: number
  /** Factor on the noise: 1, or more for a row that may be outdated. */
  doubt: number
}

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
  // From the middle 96 % of rows: an outlier must not determine the scale.
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

export function filterRows(data: Data, keep: (index: number) => boolean): Data {
  const indices = data.requests.map((_, i) => i).filter(keep)
  return {
    ...data,
    requests: indices.map((i) => data.requests[i]!),
    values: Float64Array.from(indices, (i) => data.values[i]!),
    doubts: Float64Array.from(indices, (i) => data.doubts[i]!),
  }
}

/** At most `count` rows, evenly spaced. */
export function sampleRows(data: Data, count: number): Data {
  const n = data.requests.length
  if (n <= count) return data
  return filterRows(data, (i) => Math.floor((i * count) / n) !== Math.floor(((i - 1) * count) / n))
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
