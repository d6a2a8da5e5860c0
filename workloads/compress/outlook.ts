/** Approximate work per pixel of a conversion, and how many colours a picture has, from its first bytes. */

import { frameHeaderAt, type PictureFormat } from '../images/header.ts'

/** `few`: the colours fit in a palette. */
export type Colours = 'grey' | 'few' | 'many'

/** In units of work per pixel. Baseline and progressive JPEG cost about the same. */
const decoding: Record<PictureFormat, Record<Colours, number>> = {
  bmp: { grey: 250, few: 250, many: 250 },
  jpeg: { grey: 480, few: 1050, many: 1050 },
  png: { grey: 600, few: 290, many: 1050 },
}
const encoding: Record<PictureFormat, Record<Colours, number>> = {
  bmp: { grey: 70, few: 70, many: 70 },
  jpeg: { grey: 320, few: 780, many: 800 },
  png: { grey: 1100, few: 450, many: 3300 },
}
/** An uncompressed PNG. */
const storing = 370

export function decodingPerPixel(format: PictureFormat, colours: Colours): number {
  return decoding[format][colours]
}

export function encodingPerPixel(format: PictureFormat, colours: Colours, isStored: boolean): number {
  return isStored ? storing : encoding[format][colours]
}

/** Never throws; assumes `many` if the head does not tell. */
export function coloursOf(head: Uint8Array, format: PictureFormat): Colours {
  if (format === 'png') return pngColours[head[25] ?? 2] ?? 'many'
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (format === 'bmp') return bmpColours(view)
  const frame = frameHeaderAt(view)
  return frame !== undefined && head[frame + 9] === 1 ? 'grey' : 'many'
}

/** By colour type. */
const pngColours: Readonly<Record<number, Colours>> = { 0: 'grey', 3: 'few', 4: 'grey' }

/** Number of sampled pixels. */
const samples = 40
/** A picture with more distinct colours in its sample has `many`. */
const fewColours = 12

function bmpColours(head: DataView): Colours {
  if (head.byteLength < 54) return 'many'
  const pixelBytes = head.getUint16(28, true) >> 3
  const start = head.getUint32(10, true)
  const pixels = Math.floor((head.byteLength - start) / pixelBytes)
  if (pixelBytes < 3) return 'few'
  if (pixels < samples) return 'many'
  const seen = new Set<number>()
  let grey = true
  for (let i = 0; i < samples; i++) {
    const at = start + pixelBytes * Math.floor((i * (pixels - 1)) / samples)
    const colour = head.getUint32(at, true) & 0xffffff
    grey &&= (colour & 255) * 0x010101 === colour
    seen.add(colour)
  }
  return seen.size <= fewColours ? 'few' : grey ? 'grey' : 'many'
}
