/** Reads an image's dimensions from the first bytes of a body, whatever its content type. */

export interface PictureSize {
  width: number
  height: number
}

/** Never throws. Undefined if the body is not a PNG, JPEG, GIF, BMP or WebP, or its header is cut off or corrupt. */
export function pictureSize(head: Uint8Array): PictureSize | undefined {
  // A GIF has the shortest header of all formats.
  if (head.byteLength < 10) return undefined
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const size = readers[head[0]!]?.(view)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

type Reader = (head: DataView) => PictureSize | undefined

/** By first byte of the signature. */
const readers: Readonly<Record<number, Reader>> = {
  137: pngSize,
  255: jpegSize,
  71: gifSize,
  66: bmpSize,
  82: webpSize,
}

function hasText(head: DataView, at: number, letters: string): boolean {
  if (at + letters.length > head.byteLength) return false
  for (let i = 0; i < letters.length; i++) {
    if (head.getUint8(at + i) !== letters.charCodeAt(i)) return false
  }
  return true
}

function pngSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 24 || !hasText(head, 1, 'PNG\r\n\x1a\n') || !hasText(head, 12, 'IHDR'))
    return undefined
  return { width: head.getUint32(16), height: head.getUint32(20) }
}

function gifSize(head: DataView): PictureSize | undefined {
  if (!hasText(head, 0, 'GIF87a') && !hasText(head, 0, 'GIF89a')) return undefined
  return { width: head.getUint16(6, true), height: head.getUint16(8, true) }
}

function bmpSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 26 || !hasText(head, 0, 'BM')) return undefined
  const headerBytes = head.getUint32(14, true)
  if (headerBytes === 12) return { width: head.getUint16(18, true), height: head.getUint16(20, true) }
  // Plain text may also begin with "BM", so the header size is checked.
  if (headerBytes < 40 || headerBytes > 124) return undefined
  // A negative height means that the top row comes first.
  return { width: head.getInt32(18, true), height: Math.abs(head.getInt32(22, true)) }
}

/** Skips segments of any length up to the frame header. */
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

/** SOF0 to SOF15 without the three markers in that range that are not frames. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** The first chunk determines which of three layouts applies. */
function webpSize(head: DataView): PictureSize | undefined {
  if (head.byteLength < 30 || !hasText(head, 0, 'RIFF') || !hasText(head, 8, 'WEBP')) return undefined
  if (hasText(head, 12, 'VP8X')) {
    const side = (at: number) => 1 + head.getUint16(at, true) + head.getUint8(at + 2) * 65_536
    return { width: side(24), height: side(27) }
  }
  if (hasText(head, 12, 'VP8L') && head.getUint8(20) === 0x2f) {
    const bits = head.getUint32(21, true)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
  }
  if (hasText(head, 12, 'VP8 ') && hasText(head, 23, '\x9d\x01\x2a')) {
    // The two highest bits are a scaling factor.
    return { width: head.getUint16(26, true) & 0x3fff, height: head.getUint16(28, true) & 0x3fff }
  }
  return undefined
}
