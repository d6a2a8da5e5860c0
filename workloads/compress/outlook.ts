/** What a conversion takes for each pixel, about, and how colourful a picture is, from its first bytes. */

import { frameHeaderAt, type PictureFormat } from '../images/header.ts'

/** Few: a palette holds them. */
export type Colours = 'grey' | 'few' | 'many'

/** In units of work; a progressive JPEG takes about as much as any. */
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
/** A PNG that is not compressed. */
const storing = 370

export function decodingPerPixel(format: PictureFormat, colours: Colours): number {
  return decoding[format][colours]
}

export function encodingPerPixel(format: PictureFormat, colours: Colours, isStored: boolean): number {
  return isStored ? storing : encoding[format][colours]
}

/** Never throws; what cannot be told is taken as the usual. */
export function coloursOf(head: Uint8Array, format: PictureFormat): Colours {
  if (format === 'png') return pngColours[head[25] ?? 2] ?? 'many'
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (format === 'bmp') return bmpColours(view)
  const frame = frameHeaderAt(view)
  return frame !== undefined && head[frame + 9] === 1 ? 'grey' : 'many'
}

/** By colour type. */
const pngColours: Readonly<Record<number, Colours>> = { 0: 'grey', 3: 'few', 4: 'grey' }

/** Pixels that are looked at. */
const samples = 40
/** A picture of few colours shows at most so many in them. */
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
