/** The moves of a climber: to every cell within reach that no nearer cell stands in the way of. */

import { highest } from './terrain.ts'

export interface Moves {
  readonly count: number
  readonly dx: Int32Array
  readonly dy: Int32Array
  /** What a move adds to a cell of the grid. */
  readonly delta: Int32Array
  /** What a move costs on level ground. */
  readonly length: Int32Array
  /** Three times the climb that doubles a move's cost. */
  readonly ease: Float64Array
  /** What a unit of height costs at a wall. */
  readonly effort: number
}

/** What a step to the next cell costs on level ground. In units of height it is a slope of 1. */
export function stepCost(width: number, height: number): number {
  return Math.round((highest + 1) / Math.max(width, height))
}

export function moveCost({ length, ease, effort }: Moves, move: number, climb: number): number {
  return costOf(length[move]!, ease[move]!, effort, Math.abs(climb))
}

/** In whole numbers. Gentle climbs cost by their square, so that the cheapest way up winds, and walls in proportion. */
function costOf(length: number, ease: number, effort: number, climb: number): number {
  return (length + (effort * climb * climb) / (ease + climb)) | 0
}

/** Moves from a cell that were found to be worth it, and the costs of the cells that they lead to. */
export interface Finds {
  readonly moves: Int32Array
  readonly costs: Int32Array
}

/** Finds the moves to neighbours whose cost so far is larger than by way of `cell`; the answer is how many. */
export function findBetter(
  { count, delta, length, ease, effort }: Moves,
  heights: Uint16Array,
  costs: Int32Array,
  cell: number,
  found: Finds,
): number {
  const height = heights[cell]!
  const cost = costs[cell]!
  const { moves: foundMoves, costs: foundCosts } = found
  let better = 0
  // Without a branch on what is better: it would be guessed wrong too often.
  for (let move = 0; move < count; move++) {
    const neighbour = cell + delta[move]!
    const climb = Math.abs(heights[neighbour]! - height)
    const newCost = cost + costOf(length[move]!, ease[move]!, effort, climb)
    foundMoves[better] = move
    foundCosts[better] = newCost
    better += (newCost - costs[neighbour]!) >>> 31
  }
  return better
}

/** Moves by at most `reach` cells along each axis, the shortest first: 8, 16, 32, 48, 80, 96, 144, 176 of them. */
export function movesOf(reach: number, stride: number, step: number, grade: number): Moves {
  const all: { dx: number; dy: number }[] = []
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) if (commonDivisor(dx, dy) === 1) all.push({ dx, dy })
  }
  all.sort((a, b) => a.dx ** 2 + a.dy ** 2 - (b.dx ** 2 + b.dy ** 2))
  // Rounded up, so that a straight line is never dearer than moves along it.
  const length = Int32Array.from(all, ({ dx, dy }) => Math.ceil(step * Math.sqrt(dx * dx + dy * dy)))
  return {
    count: all.length,
    dx: Int32Array.from(all, ({ dx }) => dx),
    dy: Int32Array.from(all, ({ dy }) => dy),
    delta: Int32Array.from(all, ({ dx, dy }) => dy * stride + dx),
    length,
    ease: Float64Array.from(length, (cost) => 3 * cost * grade),
    effort: 4 / grade,
  }
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : commonDivisor(b, a % b)
}
