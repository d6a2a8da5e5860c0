/** Smooth noise in whole-number arithmetic, the same on every machine: random heights and smooth ways between them. */

export interface Layer {
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

/** By bits: the smooth way 3t² - 2t³ from one random height to the next, in 4,096ths. */
const smoothWays = Array.from({ length: 12 }, (_, bits) =>
  Int32Array.from({ length: 2 ** bits }, (_, i) => {
    const t = i / 2 ** bits
    return Math.floor(t * t * (3 - 2 * t) * 4096)
  }),
)

/** Adds a layer's heights at (x, y), (x + step, y), … to `sums`. */
export function addLayer(layer: Layer, x: number, y: number, step: number, sums: Int32Array): void {
  const { seed, bits, share, ridged, shiftX, shiftY } = layer
  const within = 2 ** bits - 1
  const weights = smoothWays[bits]!
  const line = (y + shiftY) >> bits
  const down = weights[(y + shiftY) & within]!
  const above = seed + Math.imul(line, 0xc2b2ae35)
  const below = seed + Math.imul(line + 1, 0xc2b2ae35)
  let reached = -1
  let right = 0
  for (let i = 0, at = x + shiftX; i < sums.length; ) {
    const column = at >> bits
    const left = column === reached ? right : between(above, below, column, down)
    reached = column + 1
    right = between(above, below, reached, down)
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
function between(above: number, below: number, column: number, down: number): number {
  const shift = Math.imul(column, 0x85ebca6b)
  const upper = mix(above + shift) & 0x7fff
  return upper + ((((mix(below + shift) & 0x7fff) - upper) * down) >> 12)
}

/** Scatters the bits of a whole number. */
export function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
