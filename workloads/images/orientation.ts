/** Reads the Exif orientation and rotates a picture accordingly. */

import type { Picture } from './picture.ts'

const orientationTag = 0x0112

/** Reads an APP1 segment; undefined if it has no valid orientation. */
export function orientationIn(segment: Uint8Array): number | undefined {
  if (String.fromCharCode(...segment.subarray(0, 6)) !== 'Exif\0\0' || segment.length < 14) return undefined
  const tiff = new DataView(segment.buffer, segment.byteOffset + 6, segment.byteLength - 6)
  const little = tiff.getUint16(0) === 0x4949
  const directory = tiff.getUint32(4, little)
  if (directory + 2 > tiff.byteLength) return undefined
  const count = tiff.getUint16(directory, little)
  for (let i = 0, at = directory + 2; i < count && at + 12 <= tiff.byteLength; i++, at += 12) {
    if (tiff.getUint16(at, little) !== orientationTag) continue
    const value = tiff.getUint16(at + 8, little)
    return value >= 1 && value <= 8 ? value : undefined
  }
  return undefined
}

/** Reverses an orientation from 1 (upright) to 8. */
export function upright(picture: Picture, orientation: number): Picture {
  if (orientation === 1) return picture
  const { width, height, data } = picture
  const lying = orientation >= 5
  const [newWidth, newHeight] = lying ? [height, width] : [width, height]
  // Which axes of the stored picture are reversed.
  const mirrored = [2, 3, 7, 8].includes(orientation)
  const upsideDown = [3, 4, 6, 7].includes(orientation)
  const source = new Uint32Array(data.buffer, data.byteOffset, width * height)
  const target = new Uint32Array(width * height)
  for (let y = 0, to = 0; y < newHeight; y++) {
    for (let x = 0; x < newWidth; x++, to++) {
      const column = lying ? y : x
      const row = lying ? x : y
      const from = (upsideDown ? height - 1 - row : row) * width + (mirrored ? width - 1 - column : column)
      target[to] = source[from]!
    }
  }
  return { width: newWidth, height: newHeight, data: new Uint8Array(target.buffer) }
}
