/** Reads an uploaded PNG as a height map: the brighter a pixel, the higher it is. */

import { Refusal, type RequestBody } from 'plimsoll/workload'
import { formatOf, readHeader } from '../images/header.ts'
import { channelsOf, type PngFile, readPngFile } from '../images/png-chunks.ts'
import { checkDataLength, decodeRows } from '../images/png-decode.ts'
import { type RowPainter, unpack } from '../images/png-paint.ts'
import { readUpload } from '../uploads/read.ts'
import { type HeightMap, storedMap } from './map.ts'

export const maxBytes = 16 * 1024 * 1024
/** Largest width and height of a map, generated or uploaded. */
export const maxSide = 2048

/** The whole body; empty if there is none. */
export function readBody(body: RequestBody): Promise<Uint8Array> {
  return readUpload(body, maxBytes, `The uploaded map is larger than ${maxBytes} bytes.`)
}

export function uploadedMap(bytes: Uint8Array): HeightMap {
  if (formatOf(bytes) !== 'png') throw new Refusal(415, 'The uploaded map must be a PNG picture.')
  const { width = 0, height = 0 } = readHeader(bytes) ?? {}
  if (width > maxSide || height > maxSide) {
    const size = `${width} × ${height} pixels`
    throw new Refusal(413, `The uploaded map is ${size}; at most ${maxSide} × ${maxSide} are allowed.`)
  }
  const file = readPngFile(bytes)
  if (file.interlaced) {
    throw new Refusal(415, 'The uploaded PNG is interlaced; save it without interlacing (Adam7).')
  }
  checkDataLength(file)
  const heights = new Uint16Array(width * height)
  decodeRows(file, heightPainter(file, heights), () => {})
  return storedMap(heights, width, height)
}

/** Writes the brightness of each pixel, from 0 to 65,535. Unlike `Picture`, this keeps 16-bit samples exact. */
function heightPainter(file: PngFile, heights: Uint16Array): RowPainter {
  const { width, depth, colourType } = file
  const channels = channelsOf(colourType)
  const samples = new Uint16Array(width * channels)
  const palette = colourType === 3 ? paletteHeights(file.palette) : undefined
  // An integer for every depth of the standard.
  const scale = 65_535 / (2 ** depth - 1)
  return (row, _pass, index) => {
    unpack(row, samples, samples.length, depth)
    const first = index * width
    if (palette) for (let x = 0; x < width; x++) heights[first + x] = palette[samples[x]!]!
    else if (channels < 3) for (let x = 0; x < width; x++) heights[first + x] = samples[x * channels]! * scale
    else {
      for (let x = 0, at = 0; x < width; x++, at += channels) {
        heights[first + x] = luminance(
          samples[at]! * scale,
          samples[at + 1]! * scale,
          samples[at + 2]! * scale,
        )
      }
    }
  }
}

/** The brightness of each colour; missing colours are dark. */
function paletteHeights(colours: Uint8Array): Uint16Array {
  const palette = new Uint16Array(256)
  for (let i = 0; 3 * i + 2 < colours.length; i++) {
    const [red, green, blue] = colours.subarray(3 * i, 3 * i + 3)
    palette[i] = luminance(red! * 257, green! * 257, blue! * 257)
  }
  return palette
}

/** All four values are from 0 to 65,535. */
function luminance(red: number, green: number, blue: number): number {
  return (red * 77 + green * 150 + blue * 29) >> 8
}
