/**
 * The discrete cosine transform of blocks of 8 × 8, by the method of Arai, Agui and Nakajima: it leaves each
 * coefficient scaled by known factors, which are made good together with the quantization.
 */

/** By what to multiply each coefficient that `forwardDct` leaves, so that it is divided by its divisor. */
export function scales(divisors: Uint8Array): Float64Array {
  const factor = (k: number) => (k === 0 ? 1 : Math.SQRT2 * Math.cos((k * Math.PI) / 16))
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

/** One row or column: 8 values from `at` on, `step` apart. */
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
