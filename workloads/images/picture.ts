/** A picture in memory, its size limits, and properties of its pixels that encoders use. */

import { Refusal } from 'plimsoll/workload'

/** RGBA, one byte per channel, rows from top to bottom. */
export interface Picture {
  width: number
  height: number
  data: Uint8Array
}

export type Progress = (fraction: number) => void

/** Keep a job within 512 MB for all formats. */
export const limits = { bytes: 32 * 2 ** 20, pixels: 20_000_000, side: 32_767 }

/** Call before allocating memory for the pixels. */
export function checkSize(format: string, width: number, height: number): void {
  if (width < 1 || height < 1) throw damaged(format, `its size is ${width} × ${height}`)
  if (width > limits.side || height > limits.side || width * height > limits.pixels) {
    throw new Refusal(
      413,
      `the picture is ${width} × ${height}: at most ${limits.pixels} pixels and ${limits.side} a side are allowed`,
    )
  }
}

export function damaged(format: string, what: string): Refusal {
  return new Refusal(422, `the ${format.toUpperCase()} file is damaged: ${what}`)
}

export function unsupported(format: string, what: string, allowed: string): Refusal {
  return new Refusal(415, `the ${format.toUpperCase()} file has ${what}: ${allowed}`)
}

export interface Traits {
  grey: boolean
  opaque: boolean
}

export function traitsOf({ data }: Picture): Traits {
  let colour = 0
  let alpha = 255
  for (let i = 0; i < data.length; i += 4) {
    const green = data[i + 1]!
    colour |= (data[i]! ^ green) | (green ^ data[i + 2]!)
    alpha &= data[i + 3]!
  }
  return { grey: colour === 0, opaque: alpha === 255 }
}

/** Blends the picture with white in place, for formats without transparency. */
export function layOverWhite({ data }: Picture): void {
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3]!
    if (alpha === 255) continue
    const white = 255 * (255 - alpha) + 127
    data[i] = ((data[i]! * alpha + white) / 255) | 0
    data[i + 1] = ((data[i + 1]! * alpha + white) / 255) | 0
    data[i + 2] = ((data[i + 2]! * alpha + white) / 255) | 0
    data[i + 3] = 255
  }
}
