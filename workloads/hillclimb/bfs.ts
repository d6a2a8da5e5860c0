/** Breadth first: visits cells in the order of their moves from the start, so the path has the fewest moves. */

import { marksOf } from './grid.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark, wall } from './search.ts'

export function bfs({ grid, moves, start, peak, progress }: Quest): Found {
  const { count, delta } = moves
  const came = marksOf(grid, wall)
  const cells = grid.width * grid.height
  const queue = new Int32Array(cells)
  queue[0] = start
  came[start] = startMark
  let known = 1
  for (let next = 0; came[peak] === 0; next++) {
    if (next % cellsPerProgress === 0) progress(next / cells)
    const cell = queue[next]!
    for (let move = 0; move < count; move++) {
      const neighbour = cell + delta[move]!
      if (came[neighbour] === 0) {
        came[neighbour] = move + 1
        queue[known++] = neighbour
      }
    }
  }
  return { path: pathTo(peak, came, moves), visited: came, visitedCells: known }
}
