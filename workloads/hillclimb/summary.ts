/** Figures of a path. */

import { pointOf } from './grid.ts'
import { moveCost } from './moves.ts'
import type { Found, Quest } from './search.ts'

export interface Summary {
  start: { x: number; y: number; height: number }
  peak: { x: number; y: number; height: number }
  /** Number of moves. */
  moves: number
  /** Horizontal length in cells. */
  length: number
  /** Total ascent. */
  climb: number
  /** The cost that A* minimizes, in steps on level ground. */
  effort: number
  /** Number of visited cells. */
  visited: number
  /** Points of the path; a long path is sampled evenly, including both ends. */
  path: [x: number, y: number][]
}

const mostPoints = 1000

export function summaryOf({ grid, moves, start, peak, step }: Quest, { path, visitedCells }: Found): Summary {
  const { heights } = grid
  const middle = moves.delta.reduce((most, delta) => Math.max(most, delta), 0)
  const moveBy = new Uint8Array(2 * middle + 1)
  for (let move = 0; move < moves.count; move++) moveBy[middle + moves.delta[move]!] = move
  let length = 0
  let climb = 0
  let cost = 0
  for (let i = 1; i < path.length; i++) {
    const move = moveBy[middle + path[i]! - path[i - 1]!]!
    const rise = heights[path[i]!]! - heights[path[i - 1]!]!
    length += Math.sqrt(moves.dx[move]! ** 2 + moves.dy[move]! ** 2)
    climb += Math.max(0, rise)
    cost += moveCost(moves, move, rise)
  }
  return {
    start: { ...pointOf(grid, start), height: heights[start]! },
    peak: { ...pointOf(grid, peak), height: heights[peak]! },
    moves: path.length - 1,
    length: Math.round(length * 100) / 100,
    climb,
    effort: Math.round((cost / step) * 100) / 100,
    visited: visitedCells,
    path: thinned(path).map((cell) => {
      const { x, y } = pointOf(grid, cell)
      return [x, y]
    }),
  }
}

function thinned(path: Int32Array): number[] {
  if (path.length <= mostPoints) return [...path]
  const every = (path.length - 1) / (mostPoints - 1)
  return Array.from({ length: mostPoints }, (_, i) => path[Math.round(i * every)]!)
}
