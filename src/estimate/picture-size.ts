/** Reads from the first bytes of a body how large a picture it is, whatever its name or type says. */

export interface PictureSize {
  width: number
  height: number
}

/** Never throws. Undefined: it is no PNG, JPEG, GIF, BMP or WebP, or its head ends or is broken before it tells. */
export function pictureSize(head: Uint8Array): PictureSize | undefined {
  // The shortest head that tells a size is that of a GIF.
  if (head.byteLength < 10) return undefined
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const size = readers[head[0]!]?.(view)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

type Reader = (head: DataView) => PictureSize | undefined

/** By the first byte of their signatures. */
const readers: Readonly<Record<number, Reader>> = {
  137: pngSize,
  255: jpegSize,
  71: gifSize,
  66: bmpSize,
  82: webpSize,
}

/** True: these letters stand here. */
function says(head: DataView, at: number, letters: string): boolean {
  if (at + letters.length > head.byteLength) return false
  for (let i = 0; i < letters.length; i++) {
    if (head.getUint8(at + i) !== letters.charCodeAt(i)) return false
  }
  return true
}

function pngSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 24 || !says(head, 1, 'PNG\r\n\x1a\n') || !says(head, 12, 'IHDR')) return undefined
  return { width: head.getUint32(16), height: head.getUint32(20) }
}

function gifSize(head: DataView): PictureSize | undefined {
  if (!says(head, 0, 'GIF87a') && !says(head, 0, 'GIF89a')) return undefined
  return { width: head.getUint16(6, true), height: head.getUint16(8, true) }
}

function bmpSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 26 || !says(head, 0, 'BM')) return undefined
  const headerBytes = head.getUint32(14, true)
  if (headerBytes === 12) return { width: head.getUint16(18, true), height: head.getUint16(20, true) }
  // Any text may begin with these two letters.
  if (headerBytes < 40 || headerBytes > 124) return undefined
  // A negative height means that the top row comes first.
  return { width: head.getInt32(18, true), height: Math.abs(head.getInt32(22, true)) }
}

/** Its frame header tells, after segments of any length. */
function jpegSize(head: DataView): PictureSize | undefined {
  if (head.getUint8(1) !== 0xd8) return undefined
  let at = 2
  while (at + 9 <= head.byteLength) {
    if (head.getUint8(at) !== 0xff) return undefined
    const marker = head.getUint8(at + 1)
    if (marker === 0xff) at++
    else if (isFrame(marker)) return { width: head.getUint16(at + 7), height: head.getUint16(at + 5) }
    else if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda)) return undefined
    else at += 2 + Math.max(2, head.getUint16(at + 2))
  }
  return undefined
}

/** SOF0 to SOF15, among which the standard put three markers of other meaning. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** One of three kinds, by the first chunk. */
function webpSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 30 || !says(head, 0, 'RIFF') || !says(head, 8, 'WEBP')) return undefined
  if (says(head, 12, 'VP8X')) {
    const side = (at: number) => 1 + head.getUint16(at, true) + head.getUint8(at + 2) * 65_536
    return { width: side(24), height: side(27) }
  }
  if (says(head, 12, 'VP8L') && head.getUint8(20) === 0x2f) {
    const bits = head.getUint32(21, true)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  if (says(head, 12, 'VP8 ') && says(head, 23, '\x9d\x01\x2a')) {
    // The two highest bits of each say how to scale it.
    return { width: head.getUint16(26, true) & 0x3fff, height: head.getUint16(28, true) & 0x3fff }
  }
  return undefined
}
