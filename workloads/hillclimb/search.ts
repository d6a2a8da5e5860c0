/** What a search is given and what it answers, whichever the strategy. */

import type { Grid } from './grid.ts'
import type { Moves } from './moves.ts'

export interface Quest {
  grid: Grid
  moves: Moves
  start: number
  peak: number
  /** What a step to the next cell costs on level ground. */
  step: number
  /** Told now and then: the share of the area's cells that were visited. */
  progress(fraction: number): void
}

export interface Found {
  /** Cells, from the start to the peak. */
  path: Int32Array
  /** By cell: not 0 where the search has been, the margin aside. */
  visited: Uint8Array
  visitedCells: number
}

export type Search = (quest: Quest) => Found

/** Marks in an array of moves by cell; 1 to 176 are 1 + the move by which the search came. */
export const startMark = 254
export const wall = 255

/** Cells between two words of progress: a few milliseconds. */
export const cellsPerProgress = 2 ** 14

/** Walks back from the peak by the moves that led there. */
export function pathTo(peak: number, came: Uint8Array, { delta }: Moves): Int32Array {
  let cells = 1
  for (let cell = peak; came[cell] !== startMark; cell -= delta[came[cell]! - 1]!) cells++
  const path = new Int32Array(cells)
  let cell = peak
  for (let i = cells - 1; i > 0; i--) {
    path[i] = cell
    cell -= delta[came[cell]! - 1]!
  }
  path[0] = cell
  return path
}
