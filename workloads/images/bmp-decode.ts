/** Decodes uncompressed BMP: palettes of 1, 4 and 8 bits, 16, 24 and 32 bits per pixel, either row order. */

import { readHeader } from './header.ts'
import { checkSize, damaged, type Picture, type Progress, unsupported } from './picture.ts'

interface BmpFile {
  width: number
  height: number
  topDown: boolean
  /** Bits per pixel. */
  bits: number
  /** Blue, green, red and, in newer files, an unused byte per colour. */
  palette: Uint8Array
  colourBytes: number
  /** Bit masks of red, green, blue and alpha. */
  masks: readonly number[]
  rowBytes: number
  rows: Uint8Array
}

export function decodeBmp(bytes: Uint8Array, progress: Progress): Picture {
  const file = readBmpFile(bytes)
  const { width, height, topDown, rowBytes, rows } = file
  const data = new Uint8Array(width * height * 4)
  const paint = file.bits <= 8 ? palettePainter(file, data) : maskPainter(file, data)
  for (let y = 0; y < height; y++) {
    paint(rows.subarray(y * rowBytes, (y + 1) * rowBytes), (topDown ? y : height - 1 - y) * width * 4)
    if ((y & 63) === 63) progress((y + 1) / height)
  }
  return { width, height, data }
}

function readBmpFile(bytes: Uint8Array): BmpFile {
  const size = readHeader(bytes)
  if (size?.format !== 'bmp') throw damaged('bmp', 'it is cut off')
  const { width, height } = size
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const infoBytes = head.getUint32(14, true)
  const old = infoBytes === 12
  if ((!old && infoBytes < 40) || infoBytes > 1024) {
    throw unsupported('bmp', `a header of ${infoBytes} bytes`, '12 bytes and 40 to 1024 bytes are supported')
  }
  if (14 + infoBytes > bytes.length) throw damaged('bmp', 'it is cut off')
  checkSize('bmp', width, height)
  const bits = head.getUint16(old ? 24 : 28, true)
  const compression = old ? 0 : head.getUint32(30, true)
  if (![1, 4, 8, 16, 24, 32].includes(bits)) throw damaged('bmp', `it has ${bits} bits per pixel`)
  const masked = compression === 3 || compression === 6
  if (compression !== 0 && !(masked && (bits === 16 || bits === 32))) {
    throw unsupported(
      'bmp',
      `compression ${compression} with ${bits} bits per pixel`,
      'only uncompressed rows are supported',
    )
  }
  const start = head.getUint32(10, true)
  const rowBytes = Math.ceil((width * bits) / 32) * 4
  // The last row may lack its padding.
  const needed = rowBytes * (height - 1) + Math.ceil((width * bits) / 8)
  if (start < 14 + infoBytes || start + needed > bytes.length) {
    throw damaged('bmp', `it is cut off, or its rows do not begin at byte ${start}`)
  }
  const colourBytes = old ? 3 : 4
  const colours = (!old && head.getUint32(46, true)) || 2 ** bits
  const paletteEnd = Math.min(start, 14 + infoBytes + Math.min(colours, 256) * colourBytes)
  return {
    ...{ width, height, bits, rowBytes, colourBytes },
    topDown: !old && head.getInt32(22, true) < 0,
    palette: bytes.subarray(14 + infoBytes, bits <= 8 ? paletteEnd : 14 + infoBytes),
    masks: masked ? readMasks(head, infoBytes, compression === 6, start) : plainMasks(head, infoBytes, bits),
    rows: bytes.subarray(start),
  }
}

/** The fourth byte of a 32-bit pixel is alpha only if a newer header says so. */
function plainMasks(head: DataView, infoBytes: number, bits: number): number[] {
  if (bits === 16) return [0x7c00, 0x03e0, 0x001f, 0]
  const alpha = bits === 32 && infoBytes >= 56 ? head.getUint32(66, true) : 0
  return [0xff0000, 0x00ff00, 0x0000ff, alpha === 0xff000000 ? alpha : 0]
}

/** The masks follow the oldest header and are part of newer ones. */
function readMasks(head: DataView, infoBytes: number, withAlpha: boolean, start: number): number[] {
  const count = withAlpha || infoBytes >= 56 ? 4 : 3
  if (54 + count * 4 > start) throw damaged('bmp', 'its colour masks are missing')
  return [0, 1, 2, 3].map((i) => (i < count ? head.getUint32(54 + i * 4, true) : 0))
}

type RowPainter = (row: Uint8Array, to: number) => void

function palettePainter({ width, bits, palette, colourBytes }: BmpFile, target: Uint8Array): RowPainter {
  const colours = Math.floor(palette.length / colourBytes)
  const mask = 2 ** bits - 1
  return (row, start) => {
    for (let x = 0, to = start, bit = 0; x < width; x++, to += 4, bit += bits) {
      const colour = (row[bit >> 3]! >> (8 - bits - (bit & 7))) & mask
      if (colour >= colours)
        throw damaged('bmp', `colour ${colour} is not among the ${colours} of its palette`)
      target[to] = palette[colour * colourBytes + 2]!
      target[to + 1] = palette[colour * colourBytes + 1]!
      target[to + 2] = palette[colour * colourBytes]!
      target[to + 3] = 255
    }
  }
}

function maskPainter({ width, bits, masks }: BmpFile, target: Uint8Array): RowPainter {
  const bytes = bits / 8
  const [red, green, blue, alpha] = masks.map(channelOf) as [Channel, Channel, Channel, Channel]
  return (row, start) => {
    for (let x = 0, to = start, from = 0; x < width; x++, to += 4, from += bytes) {
      let pixel = row[from]! | (row[from + 1]! << 8)
      if (bytes > 2) pixel |= row[from + 2]! << 16
      if (bytes > 3) pixel |= row[from + 3]! << 24
      target[to] = red.levels[(pixel >>> red.shift) & red.largest]!
      target[to + 1] = green.levels[(pixel >>> green.shift) & green.largest]!
      target[to + 2] = blue.levels[(pixel >>> blue.shift) & blue.largest]!
      target[to + 3] = alpha.largest === 0 ? 255 : alpha.levels[(pixel >>> alpha.shift) & alpha.largest]!
    }
  }
}

interface Channel {
  shift: number
  largest: number
  levels: Uint8Array
}

/** A contiguous mask; if it has more than 8 bits, the upper 8 are used. */
function channelOf(mask: number): Channel {
  if (mask === 0) return { shift: 0, largest: 0, levels: new Uint8Array(1) }
  const top = 32 - Math.clz32(mask)
  const lowest = 31 - Math.clz32(mask & -mask)
  const shift = Math.max(lowest, top - 8)
  const largest = 2 ** (top - shift) - 1
  if (mask >>> lowest !== 2 ** (top - lowest) - 1) throw damaged('bmp', 'a colour mask has gaps')
  const levels = Uint8Array.from({ length: largest + 1 }, (_, level) => Math.round((level * 255) / largest))
  return { shift, largest, levels }
}
