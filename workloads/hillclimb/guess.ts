/** Guesses how far a peak is from a look at a few points of a generated landscape: a search's cost depends on it. */

import type { Area } from './grid.ts'
import { heightsOf, landOf } from './terrain.ts'

const pointsASide = 10
/** The finer layers move a peak only a little. */
const layers = 2

/** In cells, as the crow flies. Never fails: an area that makes no sense is taken as one point. */
export function distanceGuess(
  map: number,
  width: number,
  height: number,
  { x0, y0, x1, y1 }: Area,
  start: { x: number; y: number },
): number {
  const land = landOf(map, width, height).slice(0, layers)
  const [stepX, stepY] = [strideOf(x0, x1), strideOf(y0, y1)]
  const row = new Uint16Array(pointsASide)
  let best = -1
  let distance = 0
  for (let y = y0 + (stepY >> 1), line = 0; line < pointsASide; line++, y += stepY) {
    heightsOf(land, x0 + (stepX >> 1), y, stepX, row)
    for (let i = 0; i < pointsASide; i++) {
      if (row[i]! <= best) continue
      best = row[i]!
      distance = Math.sqrt((x0 + (stepX >> 1) + i * stepX - start.x) ** 2 + (y - start.y) ** 2)
    }
  }
  return distance
}

function strideOf(from: number, to: number): number {
  return Math.max(1, Math.floor((to - from + 1) / pointsASide))
}
