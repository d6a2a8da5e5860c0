/**
 * Forward and inverse discrete cosine transform of 8 × 8 blocks by Arai, Agui and Nakajima, which leaves each coefficient
 * scaled by a known factor. The factors are combined with the quantization.
 */

import { zigzag } from './jpeg-tables.ts'

const factor = (k: number) => (k === 0 ? 1 : Math.SQRT2 * Math.cos((k * Math.PI) / 16))

/** Factors that quantize the output of `forwardDct`. */
export function scales(divisors: Uint8Array): Float64Array {
  return Float64Array.from(divisors, (divisor, i) => 1 / (divisor * factor(i >> 3) * factor(i & 7) * 8))
}

/** In place. */
export function forwardDct(block: Float64Array): void {
  for (let row = 0; row < 64; row += 8) transform(block, row, 1)
  for (let column = 0; column < 8; column++) transform(block, column, 8)
}

const cos4 = Math.SQRT1_2
const sin2 = Math.sin(Math.PI / 8)
const difference = Math.SQRT2 * Math.sin(Math.PI / 8)
const sum = Math.SQRT2 * Math.cos(Math.PI / 8)

/** One row or column: 8 values starting at `at`, `step` apart. */
function transform(block: Float64Array, at: number, step: number): void {
  const i1 = at + step
  const i2 = i1 + step
  const i3 = i2 + step
  const i4 = i3 + step
  const i5 = i4 + step
  const i6 = i5 + step
  const i7 = i6 + step
  const sum07 = block[at]! + block[i7]!
  const sum16 = block[i1]! + block[i6]!
  const sum25 = block[i2]! + block[i5]!
  const sum34 = block[i3]! + block[i4]!
  const difference07 = block[at]! - block[i7]!
  const difference16 = block[i1]! - block[i6]!
  const difference25 = block[i2]! - block[i5]!
  const difference34 = block[i3]! - block[i4]!

  const outer = sum07 + sum34
  const inner = sum16 + sum25
  const outerDifference = sum07 - sum34
  const turned = (sum16 - sum25 + outerDifference) * cos4
  block[at] = outer + inner
  block[i4] = outer - inner
  block[i2] = outerDifference + turned
  block[i6] = outerDifference - turned

  const low = difference34 + difference25
  const middle = (difference25 + difference16) * cos4
  const high = difference16 + difference07
  const shared = (low - high) * sin2
  const lowTurned = difference * low + shared
  const highTurned = sum * high + shared
  const plus = difference07 + middle
  const minus = difference07 - middle
  block[i5] = minus + lowTurned
  block[i3] = minus - lowTurned
  block[i1] = plus + highTurned
  block[i7] = plus - highTurned
}

/** Factors that dequantize coefficients for `inverseDct`; `divisors` are in zigzag order. */
export function inverseScales(divisors: Uint16Array): Float64Array {
  const scales = new Float64Array(64)
  divisors.forEach((divisor, i) => {
    const place = zigzag[i]!
    scales[place] = (divisor * factor(place >> 3) * factor(place & 7)) / 8
  })
  return scales
}

const work = new Float64Array(64)

/** Converts 64 coefficients at `from` to 8 rows of samples at `to`, `width` apart. */
export function inverseDct(
  coefficients: Int16Array,
  from: number,
  scales: Float64Array,
  samples: Uint8Array,
  to: number,
  width: number,
): void {
  for (let i = 0; i < 64; i++) work[i] = coefficients[from + i]! * scales[i]!
  for (let column = 0; column < 8; column++) invert(work, column, 8)
  for (let row = 0; row < 64; row += 8) {
    invert(work, row, 1)
    const start = to + (row >> 3) * width
    for (let i = 0; i < 8; i++) {
      const sample = Math.round(work[row + i]!) + 128
      samples[start + i] = sample < 0 ? 0 : sample > 255 ? 255 : sample
    }
  }
}

const twice = 2 * Math.cos(Math.PI / 8)
const less = 2 * (Math.cos(Math.PI / 8) - Math.sin(Math.PI / 8))
const more = 2 * (Math.cos(Math.PI / 8) + Math.sin(Math.PI / 8))

/** One row or column: 8 values starting at `at`, `step` apart. */
function invert(block: Float64Array, at: number, step: number): void {
  const i1 = at + step
  const i2 = i1 + step
  const i3 = i2 + step
  const i4 = i3 + step
  const i5 = i4 + step
  const i6 = i5 + step
  const i7 = i6 + step
  const sum04 = block[at]! + block[i4]!
  const difference04 = block[at]! - block[i4]!
  const sum26 = block[i2]! + block[i6]!
  const turned26 = (block[i2]! - block[i6]!) * Math.SQRT2 - sum26
  const even0 = sum04 + sum26
  const even3 = sum04 - sum26
  const even1 = difference04 + turned26
  const even2 = difference04 - turned26

  const sum53 = block[i5]! + block[i3]!
  const difference53 = block[i5]! - block[i3]!
  const sum17 = block[i1]! + block[i7]!
  const difference17 = block[i1]! - block[i7]!
  const odd0 = sum17 + sum53
  const shared = (difference53 + difference17) * twice
  const odd1 = shared - difference53 * more - odd0
  const odd2 = (sum17 - sum53) * Math.SQRT2 - odd1
  const odd3 = shared - difference17 * less - odd2
  block[at] = even0 + odd0
  block[i7] = even0 - odd0
  block[i1] = even1 + odd1
  block[i6] = even1 - odd1
  block[i2] = even2 + odd2
  block[i5] = even2 - odd2
  block[i3] = even3 + odd3
  block[i4] = even3 - odd3
}
