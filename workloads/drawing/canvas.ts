/** An image with a palette of up to 256 colours, and drawing operations. */

import { encode } from 'fast-png'

/** Red, green and blue, as 0xrrggbb. */
export type Colour = number

/** `count` colours interpolated between the stops. */
export function ramp(stops: readonly Colour[], count: number): Colour[] {
  return Array.from({ length: count }, (_, i) => {
    const place = (i / Math.max(1, count - 1)) * (stops.length - 1)
    const before = Math.min(Math.floor(place), stops.length - 2)
    return mixed(stops[before]!, stops[before + 1]!, place - before)
  })
}

/** Interpolates between two colours; `share` is the weight of the second, from 0 to 1. */
export function mixed(one: Colour, other: Colour, share: number): Colour {
  let colour = 0
  for (const shift of [16, 8, 0]) {
    const [a, b] = [(one >> shift) & 255, (other >> shift) & 255]
    colour |= Math.round(a + (b - a) * share) << shift
  }
  return colour
}

export class Canvas {
  readonly width: number
  readonly height: number
  /** Palette index of each pixel, in reading order. */
  readonly pixels: Uint8Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Uint8Array(width * height)
  }

  /** Ignores pixels outside the image. */
  set(x: number, y: number, ink: number): void {
    if (x >= 0 && y >= 0 && x < this.width && y < this.height) this.pixels[y * this.width + x] = ink
  }

  /** A straight line between integer points, 2 × `radius` + 1 pixels wide. */
  line(x0: number, y0: number, x1: number, y1: number, ink: number, radius = 0): void {
    const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0), 1)
    for (let step = 0; step <= steps; step++) {
      const x = Math.round(x0 + ((x1 - x0) * step) / steps)
      const y = Math.round(y0 + ((y1 - y0) * step) / steps)
      for (let dy = -radius; dy <= radius; dy++) {
        for (let dx = -radius; dx <= radius; dx++) this.set(x + dx, y + dy, ink)
      }
    }
  }

  disc(x: number, y: number, radius: number, ink: number): void {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        if (dx * dx + dy * dy <= radius * radius + radius) this.set(x + dx, y + dy, ink)
      }
    }
  }

  png(palette: readonly Colour[]): Uint8Array {
    return indexedPng(this.width, this.height, this.pixels, palette)
  }
}

/** `pixels` are indices into the palette. */
export function indexedPng(
  width: number,
  height: number,
  pixels: Uint8Array,
  palette: readonly Colour[],
): Uint8Array {
  const colours = palette.map((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])
  return encode({ width, height, data: pixels, channels: 1, depth: 8, palette: colours })
}
