/** Moves to every cell within reach whose line of movement passes through no nearer cell. */

import { highest } from './terrain.ts'

export interface Moves {
  readonly count: number
  readonly dx: Int32Array
  readonly dy: Int32Array
  /** Offset in the grid. */
  readonly delta: Int32Array
  /** Cost on level ground. */
  readonly length: Int32Array
  /** Three times the climb that doubles a move's cost. */
  readonly ease: Float64Array
  /** Cost per unit of height of a steep climb. */
  readonly effort: number
}

/** Cost of a step to the next cell on level ground. The same number of height units is a slope of 1. */
export function stepCost(width: number, height: number): number {
  return Math.round((highest + 1) / Math.max(width, height))
}

export function moveCost({ length, ease, effort }: Moves, move: number, climb: number): number {
  return costOf(length[move]!, ease[move]!, effort, Math.abs(climb))
}

/** An integer. Gentle climbs cost their square, so that cheap paths wind uphill; steep climbs cost in proportion. */
function costOf(length: number, ease: number, effort: number, climb: number): number {
  return (length + (effort * climb * climb) / (ease + climb)) | 0
}

/** Moves that lower the cost of a neighbour, and those costs. */
export interface Finds {
  readonly moves: Int32Array
  readonly costs: Int32Array
}

/** Finds moves to neighbours that become cheaper via `cell`; returns their number. */
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
  // Branch-free: the comparison would often be mispredicted.
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

/** Moves by at most `reach` cells along each axis, shortest first: 8, 16, 32, 48, 80, 96, 144 or 176 moves. */
export function movesOf(reach: number, stride: number, step: number, grade: number): Moves {
  const all: { dx: number; dy: number }[] = []
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) if (commonDivisor(dx, dy) === 1) all.push({ dx, dy })
  }
  all.sort((a, b) => a.dx ** 2 + a.dy ** 2 - (b.dx ** 2 + b.dy ** 2))
  // Rounded up, so that a straight line never costs more than moves along it.
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
