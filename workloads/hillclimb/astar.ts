/** A*: the path of least effort (`moveCost`), with the straight-line distance to the peak as heuristic. */

import { pointOf } from './grid.ts'
import { findBetter } from './moves.ts'
import { CellQueue } from './queue.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark } from './search.ts'

/** Cost of a cell not reached so far. */
const unknown = 2 ** 31 - 1

export function astar({ grid, moves, start, peak, step, progress }: Quest): Found {
  const { heights, stride, margin, area } = grid
  const { count, delta, dx, dy } = moves
  const cameBy = new Uint8Array(heights.length)
  // A cost of 0 keeps the search out of the margin.
  const costs = new Int32Array(heights.length)
  for (let row = margin; row < margin + grid.height; row++) {
    const first = row * stride + margin
    costs.subarray(first, first + grid.width).fill(unknown)
  }
  const cells = grid.width * grid.height
  const goal = pointOf(grid, peak)
  const queue = new CellQueue(heights.length, Math.max(0, 29 - Math.clz32(step)))
  const found = { moves: new Int32Array(count), costs: new Int32Array(count) }
  cameBy[start] = startMark
  costs[start] = 0
  queue.push(0, start)
  let visitedCells = 0
  for (let cell = queue.pop(); cell !== peak; cell = queue.pop()) {
    if (visitedCells++ % cellsPerProgress === 0) progress(visitedCells / cells)
    const row = Math.floor(cell / stride)
    const toGoalX = goal.x - area.x0 + margin - (cell - row * stride)
    const toGoalY = goal.y - area.y0 + margin - row
    const better = findBetter(moves, heights, costs, cell, found)
    for (let i = 0; i < better; i++) {
      const move = found.moves[i]!
      const neighbour = cell + delta[move]!
      const newCost = found.costs[i]!
      costs[neighbour] = newCost
      cameBy[neighbour] = move + 1
      const x = toGoalX - dx[move]!
      const y = toGoalY - dy[move]!
      // Admissible: no path is cheaper than a straight one on level ground.
      queue.push(newCost + Math.floor(step * Math.sqrt(x * x + y * y)), neighbour)
    }
  }
  return { path: pathTo(peak, cameBy, moves), visited: queue.taken(), visitedCells: visitedCells + 1 }
}
