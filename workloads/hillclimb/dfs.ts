/** Depth-first search: goes to the highest unvisited neighbour, and backtracks if there is none. */

import { marksOf } from './grid.ts'
import type { Moves } from './moves.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark, wall } from './search.ts'

export function dfs({ grid, moves, start, peak, progress }: Quest): Found {
  const { heights } = grid
  const cameBy = marksOf(grid, wall)
  const cells = grid.width * grid.height
  cameBy[start] = startMark
  let cell = start
  let visitedCells = 1
  for (let turn = 0; cell !== peak; turn++) {
    if (turn % cellsPerProgress === 0) progress(visitedCells / cells)
    const best = highest(moves, heights, cameBy, cell)
    if (best < 0) cell = back(moves, cameBy, cell)
    else {
      cell = enter(moves, cameBy, cell, best)
      visitedCells++
    }
  }
  return { path: pathTo(peak, cameBy, moves), visited: cameBy, visitedCells }
}

/** The move to the highest unvisited neighbour, or -1. */
function highest({ count, delta }: Moves, heights: Uint16Array, cameBy: Uint8Array, cell: number): number {
  let best = -1
  let bestHeight = -1
  for (let move = 0; move < count; move++) {
    const neighbour = cell + delta[move]!
    if (isOpenAbove(bestHeight, heights, cameBy, neighbour)) {
      best = move
      bestHeight = heights[neighbour]!
    }
  }
  return best
}

/** Whether a cell is unvisited and above this height. */
function isOpenAbove(height: number, heights: Uint16Array, cameBy: Uint8Array, cell: number): boolean {
  return cameBy[cell] === 0 && heights[cell]! > height
}

function enter({ delta }: Moves, cameBy: Uint8Array, cell: number, move: number): number {
  const next = cell + delta[move]!
  cameBy[next] = move + 1
  return next
}

function back({ delta }: Moves, cameBy: Uint8Array, cell: number): number {
  return cell - delta[cameBy[cell]! - 1]!
}
