/** Writes JPEG test files from coefficients: baseline, or progressive with every kind of scan. */

import { ScanWriter } from './jpeg-scan-writer.ts'
import { dice } from './pictures.ts'

export interface JpegRecipe {
  width: number
  height: number
  /** Blocks across and down in a unit, for each component. */
  sampling: [number, number][]
  seed?: number
  progressive?: boolean
  /** One scan per component instead of one for all. Baseline only. */
  separate?: boolean
  restartInterval?: number
  /** IDs of the components. */
  ids?: number[]
  /** Segments before the frame. */
  extra?: Buffer[]
}

interface Component {
  id: number
  across: number
  down: number
  columns: number
  rows: number
  allColumns: number
  /** Coefficients of each block, in zigzag order. */
  blocks: Int16Array[]
}

const divisor = 3

export function segment(marker: number, data: number[] | Uint8Array): Buffer {
  return Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255, ...data])
}

/** Symbols below 128 have codes of 9 bits, others of 12. */
const counts = [0, 0, 0, 0, 0, 0, 0, 0, 128, 0, 0, 128, 0, 0, 0, 0]
const huffman = [0x00, 0x10].map((kind) => segment(0xc4, [kind, ...counts, ...Array(256).keys()]))

export function componentsOf({ width, height, sampling, seed = 1, ids }: JpegRecipe): Component[] {
  const roll = dice(seed)
  const most = (which: 0 | 1) =>
    sampling.length === 1 ? sampling[0]![which] : Math.max(...sampling.map((s) => s[which]))
  return sampling.map(([across, down], i) => {
    const allColumns = Math.ceil(width / 8 / most(0)) * across
    const allRows = Math.ceil(height / 8 / most(1)) * down
    let dc = roll(200) - 100
    const blocks = Array.from({ length: allColumns * allRows }, () => {
      const block = new Int16Array(64)
      dc = Math.max(-300, Math.min(300, dc + roll(61) - 30))
      block[0] = dc
      // Some blocks end early, which gives runs of empty blocks.
      const used = roll(3) === 0 ? 0 : roll(24)
      for (let k = 0; k < used; k++) block[1 + roll(roll(4) === 0 ? 63 : 12)] = roll(41) - 20
      return block
    })
    const columns = Math.ceil((width * across) / most(0) / 8)
    const rows = Math.ceil((height * down) / most(1) / 8)
    return { id: ids?.[i] ?? i + 1, across, down, columns, rows, allColumns, blocks }
  })
}

export function jpegFile(recipe: JpegRecipe): Buffer {
  const { width, height, progressive, separate, restartInterval = 0, extra = [] } = recipe
  const components = componentsOf(recipe)
  const frame = [8, height >> 8, height & 255, width >> 8, width & 255, components.length]
  for (const { id, across, down } of components) frame.push(id, (across << 4) | down, 0)
  const one = components.map((component) => [component])
  const scans = progressive
    ? [
        scan(components, 0, 0, 0, 1, restartInterval),
        ...one.map((alone) => scan(alone, 1, 5, 0, 2, restartInterval)),
        ...one.map((alone) => scan(alone, 6, 63, 0, 2, restartInterval)),
        ...one.map((alone) => scan(alone, 1, 63, 2, 1, restartInterval)),
        scan(components, 0, 0, 1, 0, restartInterval),
        ...one.map((alone) => scan(alone, 1, 63, 1, 0, restartInterval)),
      ]
    : (separate ? one : [components]).map((parts) => scan(parts, 0, 63, 0, 0, restartInterval))
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...extra,
    segment(0xdb, [0, ...Array(64).fill(divisor)]),
    segment(progressive ? 0xc2 : 0xc0, frame),
    ...huffman,
    ...(restartInterval > 0 ? [segment(0xdd, [restartInterval >> 8, restartInterval & 255])] : []),
    ...scans,
    Buffer.from([0xff, 0xd9]),
  ])
}

function scan(
  parts: Component[],
  from: number,
  to: number,
  before: number,
  after: number,
  restartInterval: number,
) {
  const head = [parts.length, ...parts.flatMap(({ id }) => [id, 0]), from, to, (before << 4) | after]
  const writer = new ScanWriter(from, to, before, after)
  let units = 0
  for (const unit of unitsOf(parts)) {
    if (restartInterval > 0 && units > 0 && units % restartInterval === 0) writer.restart()
    for (const [which, block] of unit) writer.block(which, block)
    units++
  }
  return Buffer.concat([segment(0xda, head), writer.end()])
}

function* unitsOf(parts: Component[]): Generator<[number, Int16Array][]> {
  if (parts.length === 1) {
    const { columns, rows, allColumns, blocks } = parts[0]!
    for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) yield [[0, blocks[y * allColumns + x]!]]
    return
  }
  const { allColumns, across, down, blocks } = parts[0]!
  const [unitColumns, unitRows] = [allColumns / across, blocks.length / allColumns / down]
  for (let unit = 0; unit < unitColumns * unitRows; unit++) {
    const [x, y] = [unit % unitColumns, Math.floor(unit / unitColumns)]
    yield parts.flatMap((part, which) =>
      Array.from({ length: part.across * part.down }, (_, i): [number, Int16Array] => {
        const row = y * part.down + Math.floor(i / part.across)
        return [which, part.blocks[row * part.allColumns + x * part.across + (i % part.across)]!]
      }),
    )
  }
}
