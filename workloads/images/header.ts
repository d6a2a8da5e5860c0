/** Detects a picture's format and size from its first bytes, whatever its name or content type. */

export const pictureFormats = ['png', 'jpeg', 'bmp'] as const
export type PictureFormat = (typeof pictureFormats)[number]

export interface PictureHeader {
  format: PictureFormat
  /** As stored; may be 0 in a corrupt file. */
  width: number
  height: number
  /** A progressive JPEG, which takes longer to decode. */
  progressive: boolean
}

const signatures: Record<PictureFormat, readonly number[]> = {
  png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  jpeg: [0xff, 0xd8, 0xff],
  bmp: [0x42, 0x4d],
}

/** By signature; undefined for other formats. */
export function formatOf(head: Uint8Array): PictureFormat | undefined {
  return pictureFormats.find((format) => signatures[format].every((byte, i) => head[i] === byte))
}

/** Never throws. Undefined for other formats, and if the head is truncated or corrupt. */
export function readHeader(head: Uint8Array): PictureHeader | undefined {
  const format = formatOf(head)
  const size = format && sizes[format](new DataView(head.buffer, head.byteOffset, head.byteLength))
  return size && { format, progressive: false, ...size }
}

type Size = { width: number; height: number; progressive?: boolean } | undefined

const sizes: Record<PictureFormat, (head: DataView) => Size> = { png: pngSize, jpeg: jpegSize, bmp: bmpSize }

function pngSize(head: DataView): Size {
  const ihdr = 0x49484452
  if (head.byteLength < 24 || head.getUint32(12) !== ihdr) return undefined
  return { width: head.getUint32(16), height: head.getUint32(20) }
}

function bmpSize(head: DataView): Size {
  if (head.byteLength < 26) return undefined
  const headerBytes = head.getUint32(14, true)
  if (headerBytes === 12) return { width: head.getUint16(18, true), height: head.getUint16(20, true) }
  // A negative height means that the top row comes first.
  return { width: head.getInt32(18, true), height: Math.abs(head.getInt32(22, true)) }
}

function jpegSize(head: DataView): Size {
  const at = frameHeaderAt(head)
  if (at === undefined) return undefined
  const progressive = head.getUint8(at + 1) % 4 === 2
  return { width: head.getUint16(at + 7), height: head.getUint16(at + 5), progressive }
}

/** Offset of a JPEG's frame header, which holds the size, behind segments of any length. */
export function frameHeaderAt(head: DataView): number | undefined {
  let at = 2
  while (at + 9 <= head.byteLength) {
    if (head.getUint8(at) !== 0xff) return undefined
    const marker = head.getUint8(at + 1)
    if (marker === 0xff) at++
    else if (isFrameHeader(marker)) return at
    else if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda)) return undefined
    else at += 2 + Math.max(2, head.getUint16(at + 2))
  }
  return undefined
}

/** SOF0 to SOF15 without the three markers in that range that are not frames. */
export function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
