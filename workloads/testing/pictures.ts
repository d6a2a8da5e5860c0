/** Seeded pictures for tests, and request bodies to upload them. */

import type { RequestBody } from 'plimsoll/workload'

/** A small generator of integers below `limit`. */
export function dice(seed: number): (limit: number) => number {
  let state = seed | 0
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.floor(((state >>> 8) / 2 ** 24) * limit)
  }
}

export interface TestPicture {
  width: number
  height: number
  /** Red, green, blue, alpha. */
  data: Uint8Array
}

/** Smooth shades with a little noise; `alpha`: partly transparent. */
export function photo(
  width: number,
  height: number,
  { alpha = false, grey = false, noise = 8, seed = 1 } = {},
): TestPicture {
  const roll = dice(seed)
  const data = new Uint8Array(width * height * 4)
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)]
    const red = 120 + 90 * Math.sin(x / 9 + y / 23) + roll(noise)
    data[4 * i] = red
    data[4 * i + 1] = grey ? red : 120 + 90 * Math.sin(x / 17 - y / 7) + roll(noise)
    data[4 * i + 2] = grey ? red : 120 + 90 * Math.cos(x / 5) + roll(noise)
    data[4 * i + 3] = alpha ? (x * 255) / width : 255
  }
  return { width, height, data }
}

export function bodyOf(bytes: Uint8Array, chunkBytes = bytes.length): RequestBody {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  return Object.assign(chunks(), { bytes: async () => bytes })
}

/** Mean difference of the red, green and blue values of two pictures. */
export function difference(a: Uint8Array, b: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) if (i % 4 < 3) sum += Math.abs(a[i]! - b[i]!)
  return sum / (a.length * 0.75)
}
