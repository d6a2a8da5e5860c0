/** Estimates the distance of the peak from a sample of a generated landscape, because the cost depends on it. */

import type { Area } from './grid.ts'
import { cellsPerPost, landOf, postsOf } from './terrain.ts'

const postsASide = 10
/** Number of layers used: finer layers barely move a peak. */
const layers = 2

/** Straight-line distance in cells. Never fails: an invalid area is treated as one point. */
export function distanceGuess(
  map: number,
  width: number,
  height: number,
  { x0, y0, x1, y1 }: Area,
  start: { x: number; y: number },
): number {
  const land = landOf(map, width, height).layers.slice(0, layers)
  const [columns, lines] = [spread(x0, x1), spread(y0, y1)]
  const posts = new Int32Array(columns.count)
  let best = -1
  let distance = 0
  for (let i = 0; i < lines.count; i++) {
    const line = lines.first + i * lines.step
    postsOf(land, columns.first, line, columns.step, posts)
    for (let j = 0; j < posts.length; j++) {
      if (posts[j]! <= best) continue
      best = posts[j]!
      const x = (columns.first + j * columns.step) * cellsPerPost
      distance = Math.sqrt((x - start.x) ** 2 + (line * cellsPerPost - start.y) ** 2)
    }
  }
  return distance
}

/** Evenly spaced posts between two cells. */
function spread(from: number, to: number): { first: number; step: number; count: number } {
  const all = Math.max(1, Math.floor((to - from + 1) / cellsPerPost))
  const count = Math.min(postsASide, all)
  const step = Math.floor(all / count)
  return { first: Math.floor(from / cellsPerPost) + (step >> 1), step, count }
}
