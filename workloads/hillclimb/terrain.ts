/** Generates a landscape from a number: layers of noise at grid points ("posts"), with linear interpolation between. */

import { addLayer, type Layer, mix } from './noise.ts'

/** Maximum height; the minimum is 0. */
export const highest = 65_535

/** Posts are 2 ** postBits cells apart in both directions. */
const postBits = 2
export const cellsPerPost = 2 ** postBits

/** Shift from half units weighted by cells in both directions. */
const toUnits = 2 * postBits + 1

export interface Land {
  /** Coarsest first. */
  readonly layers: readonly Layer[]
  /** The two lines of posts used last; consecutive rows share them. */
  readonly strip: Strip
}

interface Strip {
  /** The first post. */
  column: number
  line: number
  above: Int32Array
  below: Int32Array
}

/** Accepts any integer. The number of hills does not depend on the size; a larger map shows more detail. */
export function landOf(map: number, width: number, height: number): Land {
  const coarsest = Math.max(postBits, 30 - Math.clz32(Math.max(width, height) - 1))
  const count = coarsest - postBits + 1
  // Each layer is half as high as the previous one; the first is higher, for hills rather than bumps.
  const weights = Array.from({ length: count }, (_, depth) => (depth === 0 ? 1.6 : 0.5 ** depth))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const layers = weights.map((weight, depth) => {
    const bits = coarsest - depth
    const seed = mix(map + Math.imul(depth + 1, 0x9e3779b9))
    return {
      seed,
      bits,
      share: Math.floor((weight / total) * 2 ** 14),
      ridged: depth === 1 || depth === 2,
      shiftX: ((seed & 255) << bits) >> 8,
      shiftY: (((seed >> 8) & 255) << bits) >> 8,
    }
  })
  return { layers, strip: { column: -1, line: -1, above: new Int32Array(), below: new Int32Array() } }
}

/** Fills `posts` with the heights of every `step`-th post, in half units, starting at (column, line). */
export function postsOf(
  layers: readonly Layer[],
  column: number,
  line: number,
  step: number,
  posts: Int32Array,
): void {
  posts.fill(0)
  const [x, y] = [column * cellsPerPost, line * cellsPerPost]
  for (const layer of layers) addLayer(layer, x, y, step * cellsPerPost, posts)
  for (let i = 0; i < posts.length; i++) posts[i]! >>= 12
}

/** Fills `row` with the heights at (x, y), (x + step, y), … */
export function heightsOf(land: Land, x: number, y: number, step: number, row: Uint16Array): void {
  const first = x >> postBits
  const last = ((x + step * (row.length - 1)) >> postBits) + 1
  const { above, below } = stripOf(land, first, y >> postBits, last - first + 1)
  const within = cellsPerPost - 1
  const down = y & within
  let post = -1
  let left = 0
  let rise = 0
  for (let i = 0, at = x & within; i < row.length; i++, at += step) {
    if (at >> postBits !== post) {
      post = at >> postBits
      left = (above[post]! << postBits) + Math.imul(below[post]! - above[post]!, down)
      rise = (above[post + 1]! << postBits) + Math.imul(below[post + 1]! - above[post + 1]!, down) - left
      left <<= postBits
    }
    row[i] = (left + Math.imul(rise, at & within)) >> toUnits
  }
}

function stripOf({ layers, strip }: Land, column: number, line: number, count: number): Strip {
  const isWider = strip.column !== column || strip.above.length !== count
  if (!isWider && strip.line === line) return strip
  const follows = !isWider && strip.line === line - 1
  const free = isWider ? new Int32Array(count) : strip.above
  strip.above = isWider ? new Int32Array(count) : strip.below
  strip.below = free
  if (!follows) postsOf(layers, column, line, 1, strip.above)
  postsOf(layers, column, line + 1, 1, strip.below)
  strip.column = column
  strip.line = line
  return strip
}
