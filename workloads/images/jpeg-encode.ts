/** Encodes baseline JPEG without chroma subsampling; grey pictures have one component. Ignores transparency. */

import { BitWriter } from './jpeg-bit-writer.ts'
import { forwardDct, scales } from './jpeg-dct.ts'
import { chrominanceCodes, divisors, type HuffmanCode, luminanceCodes, zigzag } from './jpeg-tables.ts'
import { type Picture, type Progress, traitsOf } from './picture.ts'

/** The luminance or, in coloured pictures, one of two chrominances. */
interface Component {
  id: number
  /** 0 luminance, 1 chrominance. */
  table: number
  scales: Float64Array
  codes: { dc: HuffmanCode; ac: HuffmanCode }
  block: Float64Array
  previousDc: number
}

/** Upper bound of three encoded blocks, with every byte stuffed. */
const mostBytes = 3 * 64 * 8

/** `quality` from 1 to 100. */
export function encodeJpeg(picture: Picture, quality: number, progress: Progress): Uint8Array {
  const { width, height } = picture
  const { luminance, chrominance } = divisors(quality)
  const tables = traitsOf(picture).grey ? [luminance] : [luminance, chrominance]
  const components = (tables.length === 1 ? [0] : [0, 1, 1]).map((table, i) => ({
    ...{ id: i + 1, table, scales: scales(tables[table]!), previousDc: 0, block: new Float64Array(64) },
    codes: table === 0 ? luminanceCodes : chrominanceCodes,
  }))
  const out = new BitWriter()
  writeHead(out, picture, tables, components)
  for (let y = 0; y < height; y += 8) {
    for (let x = 0; x < width; x += 8) {
      out.reserve(mostBytes)
      if (components.length === 1) readGrey(picture, x, y, components[0]!.block)
      else readColours(picture, x, y, components)
      for (const component of components) encodeBlock(out, component)
    }
    progress(Math.min(1, (y + 8) / height))
  }
  return out.end([0xff, 0xd9])
}

function writeHead(
  out: BitWriter,
  { width, height }: Picture,
  tables: Uint8Array[],
  components: Component[],
) {
  const segment = (marker: number, bytes: number[]) =>
    out.append([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes])
  out.append([0xff, 0xd8])
  segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
  segment(
    0xdb,
    tables.flatMap((table, i) => [i, ...zigzag.map((place) => table[place]!)]),
  )
  const frame = [8, height >> 8, height & 255, width >> 8, width & 255, components.length]
  segment(0xc0, [...frame, ...components.flatMap(({ id, table }) => [id, 0x11, table])])
  const codes = [luminanceCodes, chrominanceCodes].slice(0, tables.length)
  segment(
    0xc4,
    codes.flatMap(({ dc, ac }, i) => [i, ...dc.counts, ...dc.symbols, 0x10 | i, ...ac.counts, ...ac.symbols]),
  )
  const scan = components.flatMap(({ id, table }) => [id, table * 0x11])
  segment(0xda, [components.length, ...scan, 0, 63, 0])
}

/** Repeats the last pixels beyond the right and lower edges. */
function readGrey({ width, height, data }: Picture, x: number, y: number, block: Float64Array): void {
  for (let i = 0; i < 64; i++) {
    const row = Math.min(y + (i >> 3), height - 1)
    const column = Math.min(x + (i & 7), width - 1)
    block[i] = data[(row * width + column) * 4]! - 128
  }
}

function readColours({ width, height, data }: Picture, x: number, y: number, components: Component[]): void {
  const luminance = components[0]!.block
  const blueness = components[1]!.block
  const redness = components[2]!.block
  for (let i = 0; i < 64; i++) {
    const row = Math.min(y + (i >> 3), height - 1)
    const column = Math.min(x + (i & 7), width - 1)
    const at = (row * width + column) * 4
    const red = data[at]!
    const green = data[at + 1]!
    const blue = data[at + 2]!
    luminance[i] = 0.299 * red + 0.587 * green + 0.114 * blue - 128
    blueness[i] = -0.168736 * red - 0.331264 * green + 0.5 * blue
    redness[i] = 0.5 * red - 0.418688 * green - 0.081312 * blue
  }
}

const levels = new Int32Array(64)

function encodeBlock(out: BitWriter, component: Component): void {
  const { block, scales, codes } = component
  forwardDct(block)
  let last = 0
  for (let i = 0; i < 64; i++) {
    const place = zigzag[i]!
    const exact = block[place]! * scales[place]!
    const level = exact < 0 ? (exact - 0.5) | 0 : (exact + 0.5) | 0
    levels[i] = level
    if (level !== 0) last = i
  }
  encodeLevel(out, codes.dc, 0, levels[0]! - component.previousDc)
  component.previousDc = levels[0]!
  let zeros = 0
  for (let i = 1; i <= last; i++) {
    const level = levels[i]!
    if (level === 0) {
      zeros++
      continue
    }
    for (; zeros > 15; zeros -= 16) out.put(codes.ac.bits[0xf0]!, codes.ac.lengths[0xf0]!)
    encodeLevel(out, codes.ac, zeros, level)
    zeros = 0
  }
  if (last < 63) out.put(codes.ac.bits[0]!, codes.ac.lengths[0]!)
}

/** Writes a symbol (number of preceding zeros, size of the level in bits), then the level. */
function encodeLevel(out: BitWriter, { bits, lengths }: HuffmanCode, zeros: number, level: number): void {
  const size = 32 - Math.clz32(Math.abs(level))
  const symbol = (zeros << 4) | size
  out.put(bits[symbol]!, lengths[symbol]!)
  if (size > 0) out.put(level < 0 ? level + (1 << size) - 1 : level, size)
}
