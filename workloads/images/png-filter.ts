/** Chooses the filter with the smallest sum of differences for a PNG row, which usually compresses best. */

import { paeth } from './png-rows.ts'

/** Writes the filter number and the filtered row. `above` is the previous row, or zeros. */
export function filterInto(target: Uint8Array, row: Uint8Array, above: Uint8Array, pixelBytes: number): void {
  const filter = smallest(row, above, pixelBytes)
  target[0] = filter
  for (let i = 0; i < row.length; i++) {
    const left = i < pixelBytes ? 0 : row[i - pixelBytes]!
    const upperLeft = i < pixelBytes ? 0 : above[i - pixelBytes]!
    target[i + 1] = row[i]! - predicted(filter, left, above[i]!, upperLeft)
  }
}

function predicted(filter: number, left: number, above: number, upperLeft: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return above
  return filter === 3 ? (left + above) >> 1 : paeth(left, above, upperLeft)
}

function smallest(row: Uint8Array, above: Uint8Array, pixelBytes: number): number {
  let [none, sub, up, average, paethSum] = [0, 0, 0, 0, 0]
  for (let i = 0; i < row.length; i++) {
    const value = row[i]!
    const over = above[i]!
    const left = i < pixelBytes ? 0 : row[i - pixelBytes]!
    const upperLeft = i < pixelBytes ? 0 : above[i - pixelBytes]!
    none += size(value)
    sub += size(value - left)
    up += size(value - over)
    average += size(value - ((left + over) >> 1))
    paethSum += size(value - paeth(left, over, upperLeft))
  }
  const sums = [none, sub, up, average, paethSum]
  return sums.indexOf(Math.min(...sums))
}

/** Absolute value of a signed byte. */
function size(value: number): number {
  return Math.abs((value << 24) >> 24)
}
