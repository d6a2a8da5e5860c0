/** Turns the inflated bytes of a PNG, as they come, into heights: never more than the header promised. */

import { channelsOf, type PngHeader } from './png-header.ts'

export class PngRows {
  /** By pixel: how bright it is, from 0 to 65,535. */
  readonly heights: Uint16Array
  readonly #header: PngHeader
  /** By place in the palette. */
  readonly #palette: Uint16Array
  /** Bytes from a sample to the one before it that filters refer to. */
  readonly #back: number
  #line: Uint8Array
  #above: Uint8Array
  /** Bytes of the current line that are there; its first is the filter's number. */
  #filled = 0
  #rows = 0

  constructor(header: PngHeader, palette: Uint16Array) {
    const { width, height, depth, colourType } = header
    const bits = depth * channelsOf[colourType]
    this.#header = header
    this.#palette = palette
    this.#back = Math.max(1, bits >> 3)
    this.#line = new Uint8Array(1 + Math.ceil((bits * width) / 8))
    this.#above = new Uint8Array(this.#line.length)
    this.heights = new Uint16Array(width * height)
  }

  get complete(): boolean {
    return this.#rows === this.#header.height
  }

  /** Undefined, or what is wrong with these bytes. */
  push(bytes: Uint8Array): string | undefined {
    for (let at = 0; at < bytes.length; ) {
      if (this.complete) return 'it holds more data than its width and height say'
      const line = this.#line
      const taken = Math.min(line.length - this.#filled, bytes.length - at)
      for (let i = 0; i < taken; i++) line[this.#filled + i] = bytes[at + i]!
      at += taken
      this.#filled += taken
      if (this.#filled < line.length) return undefined
      if (line[0]! > 4) return `row ${this.#rows} has the unknown filter ${line[0]}`
      unfilter(line, this.#above, this.#back)
      this.#read(line)
      this.#line = this.#above
      this.#above = line
      this.#filled = 0
      this.#rows++
    }
    return undefined
  }

  #read(line: Uint8Array): void {
    const { width, depth, colourType } = this.#header
    const { heights } = this
    const first = this.#rows * width
    const channels = channelsOf[colourType]
    const bytes = channels * (depth >> 3)
    if (depth < 8) {
      const most = 2 ** depth - 1
      for (let x = 0; x < width; x++) {
        const bit = x * depth
        const sample = (line[1 + (bit >> 3)]! >> (8 - depth - (bit & 7))) & most
        heights[first + x] = colourType === 3 ? this.#palette[sample]! : (sample * 65_535) / most
      }
    } else if (colourType === 3) {
      for (let x = 0; x < width; x++) heights[first + x] = this.#palette[line[1 + x]!]!
    } else if (channels < 3) {
      for (let x = 0; x < width; x++) heights[first + x] = sampleAt(line, 1 + x * bytes, depth)
    } else {
      const sample = depth >> 3
      for (let x = 0, at = 1; x < width; x++, at += bytes) {
        const red = sampleAt(line, at, depth)
        const green = sampleAt(line, at + sample, depth)
        heights[first + x] = luminance(red, green, sampleAt(line, at + 2 * sample, depth))
      }
    }
  }
}

function sampleAt(line: Uint8Array, at: number, depth: number): number {
  return depth === 8 ? line[at]! * 257 : (line[at]! << 8) | line[at + 1]!
}

/** How bright a colour is; all four from 0 to 65,535. */
export function luminance(red: number, green: number, blue: number): number {
  return (red * 77 + green * 150 + blue * 29) >> 8
}

function unfilter(line: Uint8Array, above: Uint8Array, back: number): void {
  const filter = line[0]
  if (filter === 0) return
  for (let i = 1; i < line.length; i++) {
    const left = i > back ? line[i - back]! : 0
    const up = above[i]!
    if (filter === 1) line[i] = line[i]! + left
    else if (filter === 2) line[i] = line[i]! + up
    else if (filter === 3) line[i] = line[i]! + ((left + up) >> 1)
    else line[i] = line[i]! + nearest(left, up, i > back ? above[i - back]! : 0)
  }
}

/** Paeth's predictor: whichever of the three is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  const toLeft = Math.abs(up - corner)
  const toUp = Math.abs(left - corner)
  const toCorner = Math.abs(left + up - 2 * corner)
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}
