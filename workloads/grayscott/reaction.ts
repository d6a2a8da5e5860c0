/**
 * Two substances diffuse on a torus. U is fed everywhere, V converts U into V where they meet, and V is removed.
 */

import { scramble } from '../random/scramble.ts'

/** Concentrations in rows of `size + 2`: the border repeats the opposite edge, which avoids wrapping indices. */
export interface Field {
  readonly size: number
  readonly u: Float32Array
  readonly v: Float32Array
}

export interface Rates {
  feed: number
  kill: number
}

/** Diffusion rates, low enough to be stable for every allowed feed and kill. */
const spreadU = 0.8
const spreadV = 0.4
/** Weights of edge and corner neighbours in the diffusion. */
const edge = 0.2
const corner = 0.05
/**
 * A trace of V is added everywhere. Otherwise V would become denormal, and denormal arithmetic is up to a hundred times
 * slower.
 */
const trace = 1e-12

export function emptyField(size: number): Field {
  const cells = (size + 2) ** 2
  return { size, u: new Float32Array(cells).fill(1), v: new Float32Array(cells) }
}

/** U everywhere, and square drops of V at seeded positions, about one per 32 × 32 cells. */
export function startField(size: number, seed: number): Field {
  const field = emptyField(size)
  const drops = Math.max(1, Math.round((size / 32) ** 2))
  const side = Math.min(12, size)
  for (let drop = 0; drop < drops; drop++) {
    const place = scramble(scramble(seed) + drop)
    const top = (place >>> 16) % size
    const left = (place & 0xffff) % size
    for (let i = 0; i < side * side; i++) {
      const row = (top + Math.floor(i / side)) % size
      const column = (left + (i % side)) % size
      const at = (row + 1) * (size + 2) + column + 1
      field.u[at] = 0.5
      field.v[at] = 0.25
    }
  }
  return field
}

/** One iteration, from one field into another of the same size. */
export function react(from: Field, to: Field, { feed, kill }: Rates): void {
  const { size, u, v } = from
  const nextU = to.u
  const nextV = to.v
  const removal = feed + kill
  const width = size + 2
  closeEdges(u, size)
  closeEdges(v, size)
  for (let row = 1; row <= size; row++) {
    const first = row * width
    const last = first + size
    // For the cell's column and its neighbours: the middle value, and the sum of the values above and below. Each column
    // is read once and passed on from right to left.
    let leftU = u[first]!
    let leftV = v[first]!
    let leftEndsU = u[first - width]! + u[first + width]!
    let leftEndsV = v[first - width]! + v[first + width]!
    let hereU = u[first + 1]!
    let hereV = v[first + 1]!
    let endsU = u[first + 1 - width]! + u[first + 1 + width]!
    let endsV = v[first + 1 - width]! + v[first + 1 + width]!
    for (let at = first + 1; at <= last; at++) {
      const right = at + 1
      const rightU = u[right]!
      const rightV = v[right]!
      const rightEndsU = u[right - width]! + u[right + width]!
      const rightEndsV = v[right - width]! + v[right + width]!
      const aroundU = edge * (leftU + rightU + endsU) + corner * (leftEndsU + rightEndsU)
      const aroundV = edge * (leftV + rightV + endsV) + corner * (leftEndsV + rightEndsV)
      const turned = hereU * hereV * hereV
      nextU[at] = hereU + spreadU * (aroundU - hereU) - turned + feed * (1 - hereU)
      nextV[at] = hereV + spreadV * (aroundV - hereV) + turned - removal * hereV + trace
      leftU = hereU
      leftV = hereV
      leftEndsU = endsU
      leftEndsV = endsV
      hereU = rightU
      hereV = rightV
      endsU = rightEndsU
      endsV = rightEndsV
    }
  }
}

/** The largest change of U or V in any cell. */
export function largestChange(before: Field, after: Field): number {
  const { size } = before
  const width = size + 2
  let largest = 0
  for (let row = 1; row <= size; row++) {
    const last = row * width + size
    for (let at = row * width + 1; at <= last; at++) {
      const changeU = Math.abs(after.u[at]! - before.u[at]!)
      const changeV = Math.abs(after.v[at]! - before.v[at]!)
      largest = Math.max(largest, changeU, changeV)
    }
  }
  return largest
}

/** Fills the border. */
function closeEdges(cells: Float32Array, size: number): void {
  const width = size + 2
  for (let row = 1; row <= size; row++) {
    const start = row * width
    cells[start] = cells[start + size]!
    cells[start + size + 1] = cells[start + 1]!
  }
  cells.copyWithin(0, size * width, (size + 1) * width)
  cells.copyWithin((size + 1) * width, width, 2 * width)
}
