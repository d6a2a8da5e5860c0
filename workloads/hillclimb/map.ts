/** A height map, generated or uploaded. */

import { heightsOf, landOf } from './terrain.ts'

export interface HeightMap {
  readonly width: number
  readonly height: number
  /** Fills `row` with the heights at (x, y), (x + step, y), … */
  fillRow(x: number, y: number, step: number, row: Uint16Array): void
}

export function generatedMap(map: number, width: number, height: number): HeightMap {
  const land = landOf(map, width, height)
  return { width, height, fillRow: (x, y, step, row) => heightsOf(land, x, y, step, row) }
}

export function storedMap(heights: Uint16Array, width: number, height: number): HeightMap {
  const fillRow = (x: number, y: number, step: number, row: Uint16Array) => {
    for (let i = 0, at = y * width + x; i < row.length; i++, at += step) row[i] = heights[at]!
  }
  return { width, height, fillRow }
}
