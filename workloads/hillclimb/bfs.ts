/** Breadth-first search: the path has the fewest moves. */

import type { Grid } from './grid.ts'
import type { Moves } from './moves.ts'
import { cellsPerProgress, type Found, pathTo, type Quest, startMark } from './search.ts'

export function bfs({ grid, moves, start, peak, progress }: Quest): Found {
  const { margin: reach, stride } = grid
  const neighbours = { ...rowsOf(moves, reach), stride, first: -reach * stride - reach }
  const cameBy = new Uint8Array(grid.heights.length)
  const unknown = bitsOf(grid)
  const cells = grid.width * grid.height
  const queue = new Int32Array(cells)
  queue[0] = start
  cameBy[start] = startMark
  unknown[start >> 5]! &= ~(1 << start)
  let known = 1
  for (let next = 0; cameBy[peak] === 0; next++) {
    if (next % cellsPerProgress === 0) progress(next / cells)
    known = visit(queue[next]!, neighbours, unknown, cameBy, queue, known)
  }
  return { path: pathTo(peak, cameBy, moves), visited: cameBy, visitedCells: known }
}

interface Neighbours {
  /** By row of the square around a cell: a bit for each existing move. */
  masks: Int32Array
  /** By row and column: move index + 1. */
  moveAt: Uint8Array
  /** Distance from a cell to the first one of the square, and from row to row. */
  first: number
  stride: number
}

/** Queues the unvisited neighbours of a cell; returns the new length of the queue. */
function visit(
  cell: number,
  { masks, moveAt, first: toFirst, stride }: Neighbours,
  unknown: Int32Array,
  cameBy: Uint8Array,
  queue: Int32Array,
  length: number,
): number {
  let known = length
  let first = cell + toFirst
  for (let row = 0; row < masks.length; row++, first += stride) {
    const found = unvisited(unknown, first, masks, row)
    if (found === 0) continue
    unknown[first >> 5]! &= ~(found << first)
    unknown[(first >> 5) + 1]! &= ~((found >>> 1) >>> ~first)
    for (let bits = found; bits !== 0; bits &= bits - 1) {
      const column = 31 - Math.clz32(bits & -bits)
      cameBy[first + column] = moveAt[row * masks.length + column]!
      queue[known++] = first + column
    }
  }
  return known
}

/** Bits of the cells of a row, which starts at `first`: 1 for each unvisited one that a move leads to. */
function unvisited(unknown: Int32Array, first: number, masks: Int32Array, row: number): number {
  const word = first >> 5
  // A shift by 32 - first would be a shift by 0 at the start of a word.
  return ((unknown[word]! >>> first) | ((unknown[word + 1]! << 1) << ~first)) & masks[row]!
}

/** Moves by row and column of the square around a cell: move index + 1, and a bit for each existing move. */
function rowsOf({ count, dx, dy }: Moves, reach: number): Pick<Neighbours, 'masks' | 'moveAt'> {
  const side = 2 * reach + 1
  const masks = new Int32Array(side)
  const moveAt = new Uint8Array(side * side)
  for (let move = 0; move < count; move++) {
    const [row, column] = [dy[move]! + reach, dx[move]! + reach]
    masks[row]! |= 1 << column
    moveAt[row * side + column] = move + 1
  }
  return { masks, moveAt }
}

/** One bit per unvisited cell, so that one operation covers a row of neighbours; 0 in the margin. */
function bitsOf({ width, height, margin, stride }: Grid): Int32Array {
  const cells = stride * (height + 2 * margin)
  const bits = new Int32Array((cells >> 5) + 2).fill(-1)
  let first = 0
  for (let row = 0; row <= height; row++) {
    const end = row < height ? (margin + row) * stride + margin : cells
    for (let cell = first; cell < end; cell++) bits[cell >> 5]! &= ~(1 << cell)
    first = end + width
  }
  return bits
}
