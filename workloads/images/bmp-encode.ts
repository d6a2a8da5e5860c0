/** Encodes BMP with 24 bits per pixel, bottom row first; ignores transparency. */

import type { Picture, Progress } from './picture.ts'

const headBytes = 14 + 40

export function encodeBmp({ width, height, data }: Picture, progress: Progress): Uint8Array {
  // Rows are padded to a multiple of 4 bytes.
  const rowBytes = (width * 3 + 3) & ~3
  const bytes = new Uint8Array(headBytes + rowBytes * height)
  const head = new DataView(bytes.buffer)
  head.setUint16(0, 0x424d)
  head.setUint32(2, bytes.length, true)
  head.setUint32(10, headBytes, true)
  head.setUint32(14, 40, true)
  head.setInt32(18, width, true)
  head.setInt32(22, height, true)
  head.setUint16(26, 1, true)
  head.setUint16(28, 24, true)
  head.setUint32(34, rowBytes * height, true)
  for (let y = 0; y < height; y++) {
    let to = headBytes + (height - 1 - y) * rowBytes
    for (let from = y * width * 4; from < (y + 1) * width * 4; from += 4, to += 3) {
      bytes[to] = data[from + 2]!
      bytes[to + 1] = data[from + 1]!
      bytes[to + 2] = data[from]!
    }
    if ((y & 63) === 63) progress((y + 1) / height)
  }
  progress(1)
  return bytes
}
