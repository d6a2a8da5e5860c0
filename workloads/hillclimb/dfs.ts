/** Depth-first search: goes to the highest unvisited neighbour, and backtracks if there is none. */

import { marksOf } from './grid.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark, wall } from './search.ts'

export function dfs({ grid, moves, start, peak, progress }: Quest): Found {
  const { heights } = grid
  const { count, delta } = moves
  const cameBy = marksOf(grid, wall)
  const cells = grid.width * grid.height
  cameBy[start] = startMark
  let cell = start
  let visitedCells = 1
  for (let turn = 0; cell !== peak; turn++) {
    if (turn % cellsPerProgress === 0) progress(visitedCells / cells)
    let best = -1
    let bestHeight = -1
    for (let move = 0; move < count; move++) {
      const neighbour = cell + delta[move]!
      if (cameBy[neighbour] === 0 && heights[neighbour]! > bestHeight) {
        best = move
        bestHeight = heights[neighbour]!
      }
    }
    if (best >= 0) {
      cell += delta[best]!
      cameBy[cell] = best + 1
      visitedCells++
    } else {
      cell -= delta[cameBy[cell]! - 1]!
    }
  }
  return { path: pathTo(peak, cameBy, moves), visited: cameBy, visitedCells }
}
