/**
 * Encodes PNG with a palette or the fewest channels that represent the picture exactly, and a filter chosen for each
 * row. fast-png writes rows unfiltered, which nearly doubles the size of photographs.
 */

import { zlibSync } from 'fflate'
import { crc32 } from './crc.ts'
import type { Picture, Progress } from './picture.ts'
import { filterInto } from './png-filter.ts'
import { chooseLayout } from './png-layout.ts'

/** Share of progress for filtering rows; the rest is one compression step. */
const filterPart = 0.3
/** Bytes filtered between progress reports. */
const batchBytes = 65_536

/** `level` from 0 (uncompressed) to 9 (smallest). */
export function encodePng(picture: Picture, level: number, progress: Progress): Uint8Array {
  const { width, height } = picture
  const { colourType, depth, rowBytes, pixelBytes, palette, alphas, pack } = chooseLayout(picture)
  const chunks: Uint8Array[] = [Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)]
  chunks.push(
    chunk('IHDR', Uint8Array.of(...bigEndian(width), ...bigEndian(height), depth, colourType, 0, 0, 0)),
  )
  if (palette.length > 0) chunks.push(chunk('PLTE', palette))
  if (alphas.length > 0) chunks.push(chunk('tRNS', alphas))

  const filtered = level > 0 && colourType !== 3
  let row = new Uint8Array(rowBytes)
  let above = new Uint8Array(rowBytes)
  const lineBytes = 1 + rowBytes
  const linesPerProgress = Math.ceil(batchBytes / lineBytes)
  const lines = new Uint8Array(height * lineBytes)
  for (let y = 0; y < height; y++) {
    pack(y, row)
    const target = lines.subarray(y * lineBytes, (y + 1) * lineBytes)
    if (filtered) filterInto(target, row, above, pixelBytes)
    else target.set(row, 1)
    ;[row, above] = [above, row]
    if (y % linesPerProgress === 0) progress((filterPart * y) / height)
  }
  // Not streamed: fflate 0.8 may emit references to bytes before the start of the stream.
  chunks.push(chunk('IDAT', zlibSync(lines, { level: level as 0, mem: 4 })))
  progress(1)
  chunks.push(chunk('IEND', new Uint8Array()))
  return Buffer.concat(chunks)
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12)
  bytes.set(bigEndian(data.length))
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i)
  bytes.set(data, 8)
  bytes.set(bigEndian(crc32(bytes, 4, data.length + 8)), data.length + 8)
  return bytes
}

function bigEndian(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}
