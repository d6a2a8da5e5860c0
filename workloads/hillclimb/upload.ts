/** Reads an uploaded PNG as a height-map, bright is high, and refuses one that is broken, too large or a trap. */

import { crc32 } from 'node:zlib'
import { Unzlib } from 'fflate'
import { Refusal, type RequestBody } from 'plimsoll/workload'
import { type HeightMap, storedMap } from './map.ts'
import { type PngHeader, readHeader, signatureBytes } from './png-header.ts'
import { luminance, PngRows } from './png-rows.ts'

export const maxBytes = 16 * 1024 * 1024
/** Of a map, generated or uploaded. */
export const maxSide = 2048

/** Inflated at a time: deflate makes at most 1,032 bytes of one, so what comes out at once is bounded too. */
const pieceBytes = 4096

/** As the file has them: four letters. */
const chunkNames = { PLTE: 0x504c5445, IDAT: 0x49444154, IEND: 0x49454e44 }

/** The whole body; empty if there is none. */
export async function readBody(body: RequestBody): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Refusal(413, `The uploaded map is larger than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export function uploadedMap(bytes: Uint8Array): HeightMap {
  const header = acceptableHeader(bytes)
  const { deflated, palette } = contentsOf(bytes)
  if (header.colourType === 3 && !palette) throw broken('it has no palette')
  const rows = new PngRows(header, palette ?? new Uint16Array())
  inflate(deflated, rows)
  if (!rows.complete) throw broken('it ends before all of its rows')
  return storedMap(rows.heights, header.width, header.height)
}

function acceptableHeader(bytes: Uint8Array): PngHeader {
  const header = readHeader(bytes)
  if (header === undefined) throw new Refusal(415, 'The uploaded map must be a PNG picture; this is none.')
  if (header === 'broken') throw broken('its header is not valid')
  const { width, height } = header
  if (width > maxSide || height > maxSide) {
    const size = `${width} × ${height} pixels`
    throw new Refusal(413, `The uploaded map is ${size}; at most ${maxSide} × ${maxSide} are allowed.`)
  }
  if (header.interlaced) {
    throw new Refusal(415, 'The uploaded PNG is interlaced; save it without interlacing (Adam7).')
  }
  return header
}

function inflate(deflated: Uint8Array, rows: PngRows): void {
  const inflator = new Unzlib((piece) => {
    const wrong = rows.push(piece)
    if (wrong !== undefined) throw broken(wrong)
  })
  try {
    for (let at = 0; at < deflated.length; at += pieceBytes) {
      inflator.push(deflated.subarray(at, at + pieceBytes))
    }
  } catch (error) {
    throw error instanceof Refusal
      ? error
      : broken(`its data cannot be inflated: ${(error as Error).message}`)
  }
}

/** The picture's data from all of its chunks, and its palette if it has one; other chunks do not matter. */
function contentsOf(bytes: Uint8Array): { deflated: Uint8Array; palette: Uint16Array | undefined } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // One array, however many chunks there are: millions of tiny ones fit into an upload.
  const deflated = new Uint8Array(bytes.length)
  let deflatedBytes = 0
  let palette: Uint16Array | undefined
  for (let at = signatureBytes; ; ) {
    if (at + 12 > bytes.length) throw broken('it breaks off')
    const name = view.getUint32(at + 4)
    const end = at + 8 + view.getUint32(at)
    if (end + 4 > bytes.length) throw broken('it breaks off')
    if (crc32(bytes.subarray(at + 4, end)) !== view.getUint32(end)) throw broken('a check sum is wrong')
    const data = bytes.subarray(at + 8, end)
    if (name === chunkNames.IEND) return { deflated: deflated.subarray(0, deflatedBytes), palette }
    if (name === chunkNames.PLTE) palette = readPalette(data)
    if (name === chunkNames.IDAT) {
      deflated.set(data, deflatedBytes)
      deflatedBytes += data.length
    }
    at = end + 4
  }
}

/** The brightness of each colour; those that are not there are dark. */
function readPalette(data: Uint8Array): Uint16Array {
  const palette = new Uint16Array(256)
  for (let i = 0; i < 256 && 3 * i + 2 < data.length; i++) {
    const [red, green, blue] = data.subarray(3 * i, 3 * i + 3)
    palette[i] = luminance(red! * 257, green! * 257, blue! * 257)
  }
  return palette
}

function broken(why: string): Refusal {
  return new Refusal(422, `The uploaded PNG cannot be read: ${why}.`)
}
