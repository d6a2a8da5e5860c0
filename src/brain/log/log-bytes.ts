/**
 * Strings and numbers as bytes of JSON. Each function writes into `to` from position `start` on, and returns the
 * position after what it wrote. What would lie beyond the end is not written, but counted, so that it shows.
 */

const encoder = new TextEncoder()

export function piece(text: string): Uint8Array {
  return encoder.encode(text)
}

export function put(to: Uint8Array, start: number, bytes: Uint8Array): number {
  const { length } = bytes
  for (let i = 0; i < length; i++) to[start + i] = bytes[i]!
  return start + length
}

export function string(to: Uint8Array, start: number, value: string): number {
  const { length } = value
  let p = start
  to[p++] = 0x22
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return json(to, start, value)
    to[p++] = code
  }
  to[p++] = 0x22
  return p
}

/** Numbers with at most three decimals are written digit by digit; times and work are such. */
export function number(to: Uint8Array, start: number, value: number): number {
  if (value === (value | 0) && value >= 0) return digits(to, start, value)
  const thousandths = Math.round(value * 1000)
  if (!(thousandths >= 0 && thousandths < 2 ** 50 && thousandths / 1000 === value))
    return json(to, start, value)
  const whole = Math.floor(value)
  const p = digits(to, start, whole)
  const rest = thousandths - whole * 1000
  if (rest === 0) return p
  to[p] = 0x2e
  to[p + 1] = 48 + ((rest / 100) | 0)
  to[p + 2] = 48 + (((rest / 10) | 0) % 10)
  to[p + 3] = 48 + (rest % 10)
  return rest % 10 !== 0 ? p + 4 : rest % 100 !== 0 ? p + 3 : p + 2
}

function digits(to: Uint8Array, start: number, value: number): number {
  if (value < 10) {
    to[start] = 48 + value
    return start + 1
  }
  if (value >= 1e9) {
    // The upper digits, then the lower nine with their zeros: both small enough for integer arithmetic.
    const upper = Math.floor(value / 1e9)
    const p = digits(to, start, upper)
    backwards(to, p + 9, 9, value - upper * 1e9)
    return p + 9
  }
  let count = 2
  for (let top = 100; top <= value; top *= 10) count++
  backwards(to, start + count, count, value)
  return start + count
}

/** The lowest `count` digits of a number below 2³¹, ending before `end`. */
function backwards(to: Uint8Array, end: number, count: number, value: number): void {
  let left = value | 0
  for (let p = end - 1; p >= end - count; p--) {
    const next = (left / 10) | 0
    to[p] = 48 + (left - next * 10)
    left = next
  }
}

export function json(to: Uint8Array, start: number, value: unknown): number {
  const text = JSON.stringify(value)
  const { read, written } = encoder.encodeInto(text, to.subarray(start))
  return read === text.length ? start + written : to.length + 1
}
