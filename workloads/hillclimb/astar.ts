/** A*: the path of least effort, as `moveCost` has it, with the straight line to the peak as its guide. */

import { marksOf, pointOf } from './grid.ts'
import { CellHeap } from './heap.ts'
import { moveCost } from './moves.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark, wall } from './search.ts'

/** The cost of a cell that no way led to so far. */
const unknown = 2 ** 31 - 1

export function astar({ grid, moves, start, peak, step, progress }: Quest): Found {
  const { heights, stride, margin, area } = grid
  const { count, delta, dx, dy } = moves
  const visited = marksOf(grid, wall)
  const came = new Uint8Array(heights.length)
  const costs = new Int32Array(heights.length).fill(unknown)
  const cells = grid.width * grid.height
  const goal = pointOf(grid, peak)
  const heap = new CellHeap(heights.length)
  came[start] = startMark
  costs[start] = 0
  heap.push(0, start)
  let visitedCells = 0
  for (let cell = heap.pop(); cell !== peak; cell = heap.pop()) {
    visited[cell] = 1
    if (visitedCells++ % cellsPerProgress === 0) progress(visitedCells / cells)
    const row = Math.floor(cell / stride)
    const toGoalX = goal.x - area.x0 + margin - (cell - row * stride)
    const toGoalY = goal.y - area.y0 + margin - row
    const height = heights[cell]!
    const cost = costs[cell]!
    for (let move = 0; move < count; move++) {
      const neighbour = cell + delta[move]!
      if (visited[neighbour] !== 0) continue
      const newCost = cost + moveCost(moves, move, heights[neighbour]! - height)
      const known = costs[neighbour]!
      if (newCost >= known) continue
      costs[neighbour] = newCost
      came[neighbour] = move + 1
      const x = toGoalX - dx[move]!
      const y = toGoalY - dy[move]!
      // Never too much: no way is cheaper than a straight one on level ground.
      const key = newCost + Math.floor(step * Math.sqrt(x * x + y * y))
      if (known === unknown) heap.push(key, neighbour)
      else heap.lower(key, neighbour)
    }
  }
  visited[peak] = 1
  return { path: pathTo(peak, came, moves), visited, visitedCells: visitedCells + 1 }
}
