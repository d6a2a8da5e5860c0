/** Prepares a search of the document's experiment: an area of a generated map, from its middle. */
import { astar } from '../../workloads/hillclimb/astar.ts'
import { bfs } from '../../workloads/hillclimb/bfs.ts'
import { dfs } from '../../workloads/hillclimb/dfs.ts'
import { cellAt, gridOf, peakOf } from '../../workloads/hillclimb/grid.ts'
import { generatedMap } from '../../workloads/hillclimb/map.ts'
import { movesOf, stepCost } from '../../workloads/hillclimb/moves.ts'
import type { Quest } from '../../workloads/hillclimb/search.ts'

export const strategies = { BFS: bfs, DFS: dfs, ASTAR: astar }

export function questOf({ map, mapSide, side }: { map: number; mapSide: number; side: number }): Quest {
  const land = generatedMap(map, mapSide, mapSide)
  const area = { x0: 0, y0: 0, x1: side - 1, y1: side - 1 }
  const grid = gridOf(area, 1, (y, row) => land.fillRow(0, y, 1, row))
  const start = cellAt(grid, side / 2, side / 2)
  const step = stepCost(mapSide, mapSide)
  const moves = movesOf(1, grid.stride, step, 1)
  return { grid, moves, start, peak: peakOf(grid, start), step, progress: () => {} }
}
