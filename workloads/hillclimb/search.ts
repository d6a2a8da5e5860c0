/** Input and output of a search, for all strategies. */

import type { Grid } from './grid.ts'
import type { Moves } from './moves.ts'

export interface Quest {
  grid: Grid
  moves: Moves
  start: number
  peak: number
  /** Cost of a step to the next cell on level ground. */
  step: number
  /** Receives the share of visited cells. */
  progress(fraction: number): void
}

export interface Found {
  /** Cells from the start to the peak. */
  path: Int32Array
  /** By cell: non-zero if visited; meaningless in the margin. */
  visited: Uint8Array
  visitedCells: number
}

export type Search = (quest: Quest) => Found

/** Marks by cell; 1 to 176 are 1 + the move that led there. */
export const startMark = 254
export const wall = 255

/** Cells between progress reports: a few milliseconds. */
export const cellsPerProgress = 2 ** 14

/** Follows the moves back from the peak. */
export function pathTo(peak: number, cameBy: Uint8Array, { delta }: Moves): Int32Array {
  let cells = 1
  for (let cell = peak; cameBy[cell] !== startMark; cell -= delta[cameBy[cell]! - 1]!) cells++
  const path = new Int32Array(cells)
  let cell = peak
  for (let i = cells - 1; i > 0; i--) {
    path[i] = cell
    cell -= delta[cameBy[cell]! - 1]!
  }
  path[0] = cell
  return path
}
