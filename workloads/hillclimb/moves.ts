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
  /** A climb by so many times the inverse of this makes a move cost its length more, so many times squared. */
  readonly steepness: Float64Array
}

/** What a step to the next cell costs on level ground. In units of height it is a slope of 1. */
export function stepCost(width: number, height: number): number {
  return Math.round((highest + 1) / Math.max(width, height))
}

/** Climbs beyond this many easy ones cost in proportion: walls are dear, but costs stay within 31 bits. */
const wallClimbs = 2

/**
 * What it costs to make a move. Up and down are equally hard, and steep slopes are avoided: the cheapest way up
 * a mountain winds.
 */
export function moveCost({ length, steepness }: Moves, move: number, climb: number): number {
  const climbs = Math.abs(climb) * steepness[move]!
  const extra = climbs <= wallClimbs ? climbs * climbs : wallClimbs * (2 * climbs - wallClimbs)
  // Rounded up, so that it is never below what the heuristic expects.
  return length[move]! + Math.ceil(length[move]! * extra)
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
    steepness: Float64Array.from(length, (cost) => 1 / (cost * grade)),
  }
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : commonDivisor(b, a % b)
}
