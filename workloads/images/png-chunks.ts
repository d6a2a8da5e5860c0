/** Splits a PNG into chunks and validates its structure before anything is inflated. */

import { crc32 } from './crc.ts'
import { formatOf } from './header.ts'
import { checkSize, damaged, unsupported } from './picture.ts'

export interface PngFile {
  width: number
  height: number
  /** Bits per sample: 1, 2, 4, 8 or 16. */
  depth: number
  /** 0 grey, 2 colour, 3 palette, 4 grey with alpha, 6 colour with alpha. */
  colourType: number
  interlaced: boolean
  /** Red, green and blue of each colour. */
  palette: Uint8Array
  /** Alpha of the first palette colours; otherwise the single transparent colour, 16 bits per sample. */
  transparency: Uint8Array | undefined
  /** Compressed rows. */
  deflated: Uint8Array
}

const depthsOf: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}

/** Samples per pixel. */
export function channelsOf(colourType: number): number {
  return { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colourType]!
}

export function readPngFile(bytes: Uint8Array): PngFile {
  if (formatOf(bytes) !== 'png') throw damaged('png', 'its signature is wrong')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  let file: Omit<PngFile, 'deflated'> | undefined
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) throw damaged('png', 'it is cut off')
    const length = view.getUint32(at)
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    const end = at + 8 + length
    if (end + 4 > bytes.length) throw damaged('png', `it is cut off, or the length of chunk ${at} is wrong`)
    if (crc32(bytes, at + 4, end) !== view.getUint32(end)) {
      throw damaged('png', `the checksum of the chunk at byte ${at} is wrong`)
    }
    const data = bytes.subarray(at + 8, end)
    if (!file) {
      if (type !== 'IHDR' || length !== 13) throw damaged('png', 'it does not begin with its header')
      file = readIhdr(new DataView(bytes.buffer, bytes.byteOffset + at + 8, 13))
    } else if (type === 'IEND') break
    else if (type === 'IDAT') parts.push(data)
    else if (type === 'PLTE') file.palette = data
    else if (type === 'tRNS') file.transparency = data
    // An upper-case first letter marks a critical chunk.
    else if (!/^[a-z]/.test(type)) throw damaged('png', `chunk ${JSON.stringify(type)} is not known`)
    at = end + 4
  }
  checkColours(file)
  return { ...file, deflated: joined(parts) }
}

function readIhdr(ihdr: DataView): Omit<PngFile, 'deflated'> {
  const [width, height] = [ihdr.getUint32(0), ihdr.getUint32(4)]
  checkSize('png', width, height)
  const [depth, colourType] = [ihdr.getUint8(8), ihdr.getUint8(9)]
  if (!depthsOf[colourType]?.includes(depth)) {
    throw damaged('png', `colour type ${colourType} with ${depth} bits does not exist`)
  }
  const [compression, filter, interlace] = [ihdr.getUint8(10), ihdr.getUint8(11), ihdr.getUint8(12)]
  if (compression !== 0 || filter !== 0 || interlace > 1) {
    const methods = `compression ${compression}, filter ${filter} and interlace ${interlace}`
    throw unsupported('png', methods, 'the methods of the standard are 0, 0, and 0 or 1')
  }
  const interlaced = interlace === 1
  return { width, height, depth, colourType, interlaced, palette: new Uint8Array(), transparency: undefined }
}

function checkColours({ colourType, depth, palette, transparency }: Omit<PngFile, 'deflated'>): void {
  const colours = palette.length / 3
  if (!Number.isInteger(colours) || colours > 256) throw damaged('png', 'its palette has a wrong length')
  if (colourType === 3 && (colours === 0 || colours > 2 ** depth)) {
    throw damaged('png', `its palette has ${colours} colours for ${depth} bits`)
  }
  if (!transparency) return
  const valid =
    colourType === 3
      ? transparency.length <= colours
      : transparency.length === { 0: 2, 2: 6 }[colourType as 0 | 2]
  if (!valid) throw damaged('png', 'its transparency does not fit its colours')
}

/** Concatenates: a file may consist of millions of one-byte chunks. */
function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
