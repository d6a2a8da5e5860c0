/** Splits a JPEG without decoding it: frame, scans with their tables, and orientation. */

import { isFrameHeader } from './header.ts'
import { type HuffmanSource, readHuffmanTables, readQuantization } from './jpeg-definitions.ts'
import { type Frame, readFrame } from './jpeg-frame.ts'
import { orientationIn } from './orientation.ts'
import { damaged, unsupported } from './picture.ts'

/** Some coefficients of some components. */
export interface Scan {
  /** Indices of the frame's components, and their Huffman tables. */
  components: readonly { index: number; dc: HuffmanSource | undefined; ac: HuffmanSource | undefined }[]
  /** First and last coefficient, in zigzag order. */
  from: number
  to: number
  /** Low bits omitted in the previous scan (0 if there was none), and in this one. */
  before: number
  after: number
  /** Units between restart markers; 0 if there are none. */
  restartInterval: number
  /** Compressed data. */
  data: Uint8Array
}

export interface JpegFile {
  frame: Frame
  scans: Scan[]
  /** Quantization table of each component, in zigzag order. */
  divisors: (Uint16Array | undefined)[]
  /** Colour transform of the Adobe segment, if present; 0: none. */
  adobeTransform: number | undefined
  /** 1 upright; 2 to 8 as in Exif. */
  orientation: number
}

const marker = {
  defineHuffman: 0xc4,
  end: 0xd9,
  scan: 0xda,
  quantization: 0xdb,
  restart: 0xdd,
  exif: 0xe1,
  adobe: 0xee,
}

/** Each scan covers all pixels, so more scans are treated as an attack. */
const maxScans = 64

export function readJpegFile(bytes: Uint8Array): JpegFile {
  const huffman: HuffmanSource[] = []
  const quantization: Uint16Array[] = []
  const divisors: (Uint16Array | undefined)[] = []
  const scans: Scan[] = []
  let frame: Frame | undefined
  let adobeTransform: number | undefined
  let [restartInterval, orientation] = [0, 1]
  for (let at = 2; ; ) {
    if (byteAt(bytes, at) !== 0xff) throw damaged('jpeg', `there is no marker at byte ${at}`)
    const kind = byteAt(bytes, at + 1)
    if (kind === marker.end) break
    if (kind === 0xff) {
      // A fill byte.
      at++
      continue
    }
    const end = at + 2 + ((byteAt(bytes, at + 2) << 8) | byteAt(bytes, at + 3))
    if (end < at + 4 || end > bytes.length) throw damaged('jpeg', `it is cut off, or corrupt at byte ${at}`)
    const data = bytes.subarray(at + 4, end)
    at = end
    if (isFrameHeader(kind)) {
      if (frame) throw damaged('jpeg', 'it has more than one frame')
      frame = readFrame(kind, data)
    } else if (kind === marker.defineHuffman) readHuffmanTables(data, huffman)
    else if (kind === marker.quantization) readQuantization(data, quantization)
    else if (kind === marker.restart) restartInterval = ((data[0] ?? 0) << 8) | (data[1] ?? 0)
    else if (kind === marker.exif) orientation = orientationIn(data) ?? orientation
    else if (kind === marker.adobe && isAdobe(data)) adobeTransform = data[11]
    else if (kind === marker.scan) {
      if (!frame) throw damaged('jpeg', 'a scan comes before the frame')
      if (scans.length === maxScans)
        throw unsupported('jpeg', `more than ${maxScans} scans`, 'no encoder needs that many')
      at = endOfScan(bytes, end)
      const scan = readScan(data, frame, huffman)
      // Tables may be redefined later; the first scan of a component decides.
      for (const { index } of scan.components)
        divisors[index] ??= quantization[frame.components[index]!.divisors]
      scans.push({ ...scan, restartInterval, data: bytes.subarray(end, at) })
    }
  }
  if (!frame || scans.length === 0) throw damaged('jpeg', 'it has no picture')
  return { frame, scans, divisors, adobeTransform, orientation }
}

function readScan(
  data: Uint8Array,
  frame: Frame,
  huffman: HuffmanSource[],
): Omit<Scan, 'restartInterval' | 'data'> {
  const count = data[0] ?? 0
  if (count < 1 || count > 4 || data.length !== 4 + 2 * count)
    throw damaged('jpeg', 'a scan has a wrong length')
  const components = Array.from({ length: count }, (_, i) => {
    const [id, tables = 0] = data.subarray(1 + 2 * i)
    const index = frame.components.findIndex((component) => component.id === id)
    if (index < 0) throw damaged('jpeg', `a scan refers to component ${id}, which is not in the frame`)
    return { index, dc: huffman[tables >> 4], ac: huffman[0x10 | (tables & 15)] }
  })
  if (new Set(components.map(({ index }) => index)).size !== count)
    throw damaged('jpeg', 'a scan repeats a component')
  if (!frame.progressive) return { components, from: 0, to: 63, before: 0, after: 0 }
  const [from = 0, to = 0, bits = 0] = data.subarray(1 + 2 * count)
  const [before, after] = [bits >> 4, bits & 15]
  const valid = from === 0 ? to === 0 : from <= to && to <= 63 && count === 1
  if (!valid || after > 13 || (before !== 0 && before !== after + 1)) {
    throw damaged(
      'jpeg',
      `a scan of coefficients ${from} to ${to} with bits ${before} to ${after} does not exist`,
    )
  }
  return { components, from, to, before, after }
}

function byteAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) throw damaged('jpeg', 'it is cut off')
  return bytes[at]!
}

/** The next marker other than a restart. A data byte 0xff is followed by a zero. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = start; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1]!
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  throw damaged('jpeg', 'it is cut off')
}

function isAdobe(data: Uint8Array): boolean {
  return data.length >= 12 && String.fromCharCode(...data.subarray(0, 5)) === 'Adobe'
}
