/** Encodes PNG with the fewest channels or the palette that hold the picture exactly, and a filter chosen for each row. */

import { zlibSync } from 'fflate'
import { crc32 } from './crc.ts'
import type { Picture, Progress } from './picture.ts'
import { filterInto } from './png-filter.ts'
import { chooseLayout } from './png-layout.ts'

/** Rows are filtered in the first part; the rest is compressed in one go. */
const filterPart = 0.3
/** Filtered between two reports of progress, if a row is not longer. */
const batchBytes = 65_536

/** `level` from 0, stored as it is, to 9, as small as possible. */
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
  // Not piece by piece: what fflate 0.8 streams may refer to bytes before its beginning, as if zeros were there.
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
