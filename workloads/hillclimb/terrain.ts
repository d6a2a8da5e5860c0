/** A landscape made from a number: layers of smooth noise in whole-number arithmetic, the same on every machine. */

/** Heights are from 0 to this. */
export const highest = 65_535

/** Its layers, the coarsest first. */
export type Land = readonly Layer[]

interface Layer {
  seed: number
  /** Its random heights stand 2 ** bits cells apart. */
  bits: number
  /** Its part in the whole, in 16,384ths. */
  share: number
  /** Folded at the middle height, which makes crests. */
  ridged: boolean
  /** Moved, so that no line of its grid lies upon another layer's. */
  shiftX: number
  shiftY: number
}

/** The distance of the finest layer's random heights, as a power of 2. */
const finest = 2

/** Any whole number is a landscape: as many hills whatever the size, and a larger map shows them in more detail. */
export function landOf(map: number, width: number, height: number): Land {
  const coarsest = Math.max(finest, 30 - Math.clz32(Math.max(width, height) - 1))
  const count = coarsest - finest + 1
  // Each layer is half as high as the one before, and the first is higher: hills rather than bumps.
  const weights = Array.from({ length: count }, (_, depth) => (depth === 0 ? 1.6 : 0.5 ** depth))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight, depth) => {
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
}

/** Fills `row` with the heights of (x, y), (x + step, y), … */
export function heightsOf(land: Land, x: number, y: number, step: number, row: Uint16Array): void {
  const sums = new Int32Array(row.length)
  for (const layer of land) addLayer(layer, x + layer.shiftX, y + layer.shiftY, step, sums)
  for (let i = 0; i < row.length; i++) row[i] = sums[i]! >> 13
}

/** By bits: the smooth way 3t² - 2t³ from one random height to the next, in 4,096ths. */
const smoothWays = Array.from({ length: 12 }, (_, bits) =>
  Int32Array.from({ length: 2 ** bits }, (_, i) => {
    const t = i / 2 ** bits
    return Math.floor(t * t * (3 - 2 * t) * 4096)
  }),
)

function addLayer(
  { seed, bits, share, ridged }: Layer,
  x: number,
  y: number,
  step: number,
  sums: Int32Array,
) {
  const within = 2 ** bits - 1
  const weights = smoothWays[bits]!
  const line = y >> bits
  const down = weights[y & within]!
  let reached = -1
  let right = 0
  for (let i = 0, at = x; i < sums.length; ) {
    const column = at >> bits
    const left = column === reached ? right : between(seed, column, line, down)
    reached = column + 1
    right = between(seed, reached, line, down)
    const rise = right - left
    const end = Math.min(sums.length, i + Math.ceil(((reached << bits) - at) / step))
    if (ridged) {
      for (; i < end; i++, at += step) {
        const value = left + (Math.imul(rise, weights[at & within]!) >> 12)
        sums[i]! += Math.imul(value < 16_384 ? value << 1 : 65_535 - (value << 1), share)
      }
    } else {
      for (; i < end; i++, at += step) {
        sums[i]! += Math.imul(left + (Math.imul(rise, weights[at & within]!) >> 12), share)
      }
    }
  }
}

/** The height between two random ones that stand below each other. */
function between(seed: number, column: number, line: number, down: number): number {
  const above = mix(seed + Math.imul(column, 0x85ebca6b) + Math.imul(line, 0xc2b2ae35)) & 0x7fff
  const below = mix(seed + Math.imul(column, 0x85ebca6b) + Math.imul(line + 1, 0xc2b2ae35)) & 0x7fff
  return above + (((below - above) * down) >> 12)
}

/** Scatters the bits of a whole number. */
function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
