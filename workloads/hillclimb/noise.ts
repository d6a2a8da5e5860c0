/** Smooth noise in integer arithmetic, identical on every machine: random heights with smooth interpolation. */

export interface Layer {
  seed: number
  /** Random heights are 2 ** bits cells apart. */
  bits: number
  /** Weight of the layer, in 16,384ths. */
  share: number
  /** Folded at half the height, which creates ridges. */
  ridged: boolean
  /** Offset of the grid, so that grids of different layers do not coincide. */
  shiftX: number
  shiftY: number
}

/** By bits: the smoothstep function 3t² - 2t³, in 4,096ths. */
const smoothSteps = Array.from({ length: 12 }, (_, bits) =>
  Int32Array.from({ length: 2 ** bits }, (_, i) => {
    const t = i / 2 ** bits
    return Math.floor(t * t * (3 - 2 * t) * 4096)
  }),
)

/** Adds the layer's heights at (x, y), (x + step, y), … to `sums`. */
export function addLayer(layer: Layer, x: number, y: number, step: number, sums: Int32Array): void {
  const { seed, bits, share, ridged, shiftX, shiftY } = layer
  const within = 2 ** bits - 1
  const weights = smoothSteps[bits]!
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

/** Interpolates between two vertically adjacent random heights. */
function between(above: number, below: number, column: number, down: number): number {
  const shift = Math.imul(column, 0x85ebca6b)
  const upper = mix(above + shift) & 0x7fff
  return upper + ((((mix(below + shift) & 0x7fff) - upper) * down) >> 12)
}

/** Integer hash. */
export function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
