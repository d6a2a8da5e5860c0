/** Reverses the filters of PNG rows, and locates the pixels of each row. */

import { damaged } from './picture.ts'

/** Rows with every `stepX`-th pixel of every `stepY`-th row, starting at (x, y). */
export interface Pass {
  x: number
  y: number
  stepX: number
  stepY: number
  columns: number
  rows: number
}

const plain = [[0, 0, 1, 1]] as const
const adam7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Only passes that contain pixels. */
export function passesOf(width: number, height: number, interlaced: boolean): Pass[] {
  return (interlaced ? adam7 : plain)
    .map(([x, y, stepX, stepY]) => ({
      ...{ x, y, stepX, stepY },
      columns: Math.ceil((width - x) / stepX),
      rows: Math.ceil((height - y) / stepY),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0)
}

/** In place. `above` is the previous row, or zeros; `pixelBytes` is the distance to the pixel on the left. */
export function unfilter(filter: number, row: Uint8Array, above: Uint8Array, pixelBytes: number): void {
  const { length } = row
  switch (filter) {
    case 0:
      return
    case 1:
      for (let i = pixelBytes; i < length; i++) row[i] = row[i]! + row[i - pixelBytes]!
      return
    case 2:
      for (let i = 0; i < length; i++) row[i] = row[i]! + above[i]!
      return
    case 3:
      for (let i = 0; i < pixelBytes && i < length; i++) row[i] = row[i]! + (above[i]! >> 1)
      for (let i = pixelBytes; i < length; i++) {
        row[i] = row[i]! + ((row[i - pixelBytes]! + above[i]!) >> 1)
      }
      return
    case 4:
      for (let i = 0; i < pixelBytes && i < length; i++) row[i] = row[i]! + above[i]!
      for (let i = pixelBytes; i < length; i++) {
        row[i] = row[i]! + paeth(row[i - pixelBytes]!, above[i]!, above[i - pixelBytes]!)
      }
      return
    default:
      throw damaged('png', `row filter ${filter} does not exist`)
  }
}

/**
 * The one of left, above and upper left that is nearest to left + above - upperLeft. Uses bit masks instead of branches,
 * which would often be mispredicted in photographs.
 */
export function paeth(left: number, above: number, upperLeft: number): number {
  const toLeft = Math.abs(above - upperLeft)
  const toAbove = Math.abs(left - upperLeft)
  const toUpperLeft = Math.abs(left + above - 2 * upperLeft)
  const notLeft = ((toAbove - toLeft) | (toUpperLeft - toLeft)) >> 31
  const notAbove = (toUpperLeft - toAbove) >> 31
  const other = above + ((upperLeft - above) & notAbove)
  return left + ((other - left) & notLeft)
}
