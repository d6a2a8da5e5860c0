/** Walks through a JPEG file without decoding it: its frame, how many scans it has, and what else bears on its pixels. */

import { isFrameHeader } from './header.ts'
import { orientationIn } from './orientation.ts'
import { checkSize, damaged, unsupported } from './picture.ts'

export interface JpegFile {
  width: number
  height: number
  components: readonly { id: number; horizontal: number; vertical: number }[]
  scans: number
  /** What Adobe's segment says of the colours, if there is one: 0 as they are, else transformed. */
  adobeTransform: number | undefined
  /** 1 upright; 2 to 8 as in Exif. */
  orientation: number
  /** Up to its end marker; what follows is not part of the picture. */
  bytes: Uint8Array
}

const startOfScan = 0xda
const endOfImage = 0xd9

/** More are no picture but an attempt to keep a decoder busy: each goes over all pixels. */
const maxScans = 64

export function readJpegFile(bytes: Uint8Array): JpegFile {
  let frame: Pick<JpegFile, 'width' | 'height' | 'components'> | undefined
  let [scans, orientation] = [0, 1]
  let adobeTransform: number | undefined
  let at = 2
  for (;;) {
    const marker = markerAt(bytes, at)
    if (marker === endOfImage) break
    // Fill bytes, and restart markers that stand alone.
    if (marker === 0xff) at += 1
    else if (marker >= 0xd0 && marker <= 0xd7) at += 2
    else {
      const length = (byteAt(bytes, at + 2) << 8) | byteAt(bytes, at + 3)
      const end = at + 2 + length
      if (length < 2 || end > bytes.length) throw damaged('jpeg', `it is cut off, or broken at byte ${at}`)
      const data = bytes.subarray(at + 4, end)
      if (isFrameHeader(marker)) {
        if (frame) throw damaged('jpeg', 'it has more than one frame')
        frame = readFrame(marker, data)
      } else if (marker === 0xe1) orientation = orientationIn(data) ?? orientation
      else if (marker === 0xee && isAdobe(data)) adobeTransform = data[11]
      at = end
      if (marker === startOfScan) {
        if (!frame) throw damaged('jpeg', 'a scan comes before the frame')
        if (++scans > maxScans)
          throw unsupported('jpeg', `more than ${maxScans} scans`, 'no encoder needs so many')
        at = endOfScan(bytes, end)
      }
    }
  }
  if (!frame || scans === 0) throw damaged('jpeg', 'it has no picture')
  return { ...frame, scans, adobeTransform, orientation, bytes: bytes.subarray(0, at + 2) }
}

function markerAt(bytes: Uint8Array, at: number): number {
  if (byteAt(bytes, at) !== 0xff) throw damaged('jpeg', `there is no marker at byte ${at}`)
  return byteAt(bytes, at + 1)
}

function byteAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) throw damaged('jpeg', 'it is cut off')
  return bytes[at]!
}

/** The next marker that is not a restart; in the data of a scan a byte of ones that is no marker has a zero after it. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = start; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1]!
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  throw damaged('jpeg', 'it is cut off')
}

function readFrame(marker: number, data: Uint8Array): Pick<JpegFile, 'width' | 'height' | 'components'> {
  if (marker > 0xc2) throw unsupported('jpeg', `frames of kind ${marker - 0xc0}`, '0, 1 and 2 are supported')
  const [precision = 0, h1 = 0, h0 = 0, w1 = 0, w0 = 0, count = 0] = data
  if (data.length !== 6 + 3 * count) throw damaged('jpeg', 'its frame has a wrong length')
  if (precision !== 8) throw unsupported('jpeg', `${precision} bits a sample`, '8 are supported')
  if (![1, 3, 4].includes(count)) throw unsupported('jpeg', `${count} components`, '1, 3 and 4 are supported')
  const [width, height] = [(w1 << 8) | w0, (h1 << 8) | h0]
  checkSize('jpeg', width, height)
  const components = Array.from({ length: count }, (_, i) => {
    const [id = 0, sampling = 0] = data.subarray(6 + 3 * i)
    return { id, horizontal: sampling >> 4, vertical: sampling & 15 }
  })
  for (const { horizontal, vertical } of components) {
    if (horizontal < 1 || horizontal > 4 || vertical < 1 || vertical > 4) {
      throw damaged('jpeg', `sampling of ${horizontal} × ${vertical} does not exist`)
    }
  }
  if (new Set(components.map(({ id }) => id)).size !== count)
    throw damaged('jpeg', 'two components have one name')
  return { width, height, components }
}

function isAdobe(data: Uint8Array): boolean {
  return data.length >= 12 && String.fromCharCode(...data.subarray(0, 5)) === 'Adobe'
}
