/**
 * Writes PNG test files of every kind with Node's zlib and no code of the workloads: an independent check of the
 * decoder. fast-png cannot write chosen filters, bit depths and corrupt chunks.
 */

import { crc32, deflateSync } from 'node:zlib'

export interface PngRecipe {
  width: number
  height: number
  depth: number
  colourType: number
  interlaced?: boolean
  palette?: Uint8Array
  transparency?: Uint8Array
  /** Stored samples of a pixel. */
  pixel(x: number, y: number): number[]
  /** Filter of each row. */
  filter?(row: number): number
  /** Length of each IDAT chunk. */
  pieceBytes?: number
  /** Chunks between header and data. */
  extra?: Buffer[]
}

export const signature = Buffer.from('89504e470d0a1a0a', 'hex')

export function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  crc.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, crc])
}

export function ihdr(width: number, height: number, ...rest: number[]): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width)
  data.writeUInt32BE(height, 4)
  data.set(rest, 8)
  return chunk('IHDR', data)
}

export function pngFile(recipe: PngRecipe): Buffer {
  const { width, height, depth, colourType, interlaced = false, palette, transparency, extra = [] } = recipe
  const deflated = deflateSync(rowsOf(recipe))
  const { pieceBytes = deflated.length } = recipe
  const pieces: Buffer[] = []
  for (let at = 0; at < deflated.length; at += pieceBytes) {
    pieces.push(chunk('IDAT', deflated.subarray(at, at + pieceBytes)))
  }
  return Buffer.concat([
    signature,
    ihdr(width, height, depth, colourType, 0, 0, interlaced ? 1 : 0),
    ...extra,
    ...(palette ? [chunk('PLTE', palette)] : []),
    ...(transparency ? [chunk('tRNS', transparency)] : []),
    ...pieces,
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** For each Adam7 pass: first column and row, and the steps. */
const adam7 = ['0088', '4088', '0448', '2044', '0224', '1022', '0112']

export function rowsOf(recipe: PngRecipe): Buffer {
  const { width, height, depth, interlaced, pixel, filter = () => 0 } = recipe
  const rows: Buffer[] = []
  for (const pass of interlaced ? adam7 : ['0011']) {
    const [x0, y0, stepX, stepY] = [...pass].map(Number) as [number, number, number, number]
    if (x0 >= width) continue
    let above: number[] = []
    for (let y = y0; y < height; y += stepY) {
      let bits = ''
      let samples = 0
      for (let x = x0; x < width; x += stepX) {
        const values = pixel(x, y)
        samples = values.length
        for (const value of values) bits += value.toString(2).padStart(depth, '0')
      }
      const row = (bits.padEnd(Math.ceil(bits.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) =>
        Number.parseInt(byte, 2),
      )
      const left = Math.max(1, (samples * depth) / 8)
      rows.push(Buffer.from([filter(rows.length), ...filtered(filter(rows.length), row, above, left)]))
      above = row
    }
  }
  return Buffer.concat(rows)
}

function filtered(filter: number, row: number[], above: number[], distance: number): number[] {
  return row.map((value, i) => {
    const a = row[i - distance] ?? 0
    const b = above[i] ?? 0
    const c = above[i - distance] ?? 0
    const p = a + b - c
    const nearest = [a, b, c].toSorted((m, n) => Math.abs(p - m) - Math.abs(p - n))[0]!
    return (value - [0, a, b, (a + b) >> 1, nearest][filter]!) & 255
  })
}
