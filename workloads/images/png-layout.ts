/** Chooses the pixel format of a PNG: palette, grey or colour, with or without alpha. */

import { type Picture, traitsOf } from './picture.ts'

export interface Layout {
  colourType: number
  /** Bits per sample. */
  depth: number
  rowBytes: number
  /** Distance to the pixel on the left, for filters. */
  pixelBytes: number
  palette: Uint8Array
  alphas: Uint8Array
  /** Writes row `y` in this format. */
  pack(y: number, row: Uint8Array): void
}

export function chooseLayout(picture: Picture): Layout {
  const { grey, opaque } = traitsOf(picture)
  // A grey level needs only a byte, so a palette pays off only with few colours.
  return paletteLayout(picture, grey && opaque ? 16 : 256) ?? sampleLayout(picture, grey, opaque)
}

function sampleLayout({ width, data }: Picture, grey: boolean, opaque: boolean): Layout {
  const colours = grey ? 1 : 3
  const channels = colours + (opaque ? 0 : 1)
  return {
    colourType: (grey ? 0 : 2) + (opaque ? 0 : 4),
    depth: 8,
    rowBytes: width * channels,
    pixelBytes: channels,
    palette: new Uint8Array(),
    alphas: new Uint8Array(),
    pack(y, row) {
      for (let x = 0, from = y * width * 4, to = 0; x < width; x++, from += 4, to += channels) {
        row[to] = data[from]!
        if (!grey) {
          row[to + 1] = data[from + 1]!
          row[to + 2] = data[from + 2]!
        }
        if (!opaque) row[to + colours] = data[from + 3]!
      }
    },
  }
}

/** Undefined if the picture has too many colours. */
function paletteLayout({ width, data }: Picture, maxColours: number): Layout | undefined {
  const colours = colourNumbers(data, maxColours)
  if (!colours) return undefined
  const { count, palette, alphas, numberOf } = colours
  const depth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8
  return {
    ...{ colourType: 3, depth, pixelBytes: 1, palette },
    alphas: alphas.every((alpha) => alpha === 255) ? new Uint8Array() : alphas,
    rowBytes: Math.ceil((width * depth) / 8),
    pack(y, row) {
      row.fill(0)
      for (let x = 0, from = y * width * 4, bit = 0; x < width; x++, from += 4, bit += depth) {
        row[bit >> 3] = row[bit >> 3]! | (numberOf(from) << (8 - depth - (bit & 7)))
      }
    },
  }
}

/** Numbers colours by first use, in a hash table of four times the capacity. */
function colourNumbers(data: Uint8Array, maxColours: number) {
  const slots = new Int32Array(1024)
  const numbers = new Int16Array(1024).fill(-1)
  const palette = new Uint8Array(256 * 3)
  const alphas = new Uint8Array(256)
  let count = 0

  function numberOf(at: number): number {
    const colour = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24)
    let slot = (Math.imul(colour, 0x9e3779b1) >>> 22) & 1023
    while (numbers[slot]! >= 0 && slots[slot] !== colour) slot = (slot + 1) & 1023
    if (numbers[slot]! < 0) {
      if (count === maxColours) return -1
      slots[slot] = colour
      numbers[slot] = count
      palette.set(data.subarray(at, at + 3), count * 3)
      alphas[count++] = data[at + 3]!
    }
    return numbers[slot]!
  }

  for (let at = 0; at < data.length; at += 4) if (numberOf(at) < 0) return undefined
  return { count, palette: palette.subarray(0, count * 3), alphas: alphas.subarray(0, count), numberOf }
}
