/** Writes JPEG files for tests from coefficients: baseline, or progressive with every kind of scan. */

import { dice } from './pictures.ts'

export interface JpegRecipe {
  width: number
  height: number
  /** Blocks across and down in a unit, of each component. */
  sampling: [number, number][]
  seed?: number
  progressive?: boolean
  /** A scan for each component, instead of one. Baseline only. */
  separate?: boolean
  restartInterval?: number
  /** Names of the components. */
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
  /** Of each block, in zigzag order. */
  blocks: Int16Array[]
}

const divisor = 3

export function segment(marker: number, data: number[] | Uint8Array): Buffer {
  return Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255, ...data])
}

/** All symbols below 128 have codes of 9 bits, the others of 12. */
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
      // Some blocks have no more, so that there are runs of empty ones.
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

class ScanWriter {
  readonly #bytes: number[] = []
  #bits = ''
  #previous = [0, 0, 0, 0]
  #emptyBlocks = 0
  #corrections = ''
  #restarts = 0
  readonly #from: number
  readonly #to: number
  readonly #before: number
  readonly #after: number

  constructor(from: number, to: number, before: number, after: number) {
    this.#from = from
    this.#to = to
    this.#before = before
    this.#after = after
  }

  block(which: number, block: Int16Array): void {
    if (this.#from === 0) {
      const value = block[0]! >> this.#after
      if (this.#before > 0) this.#bits += value & 1
      else {
        this.#number(0, value - this.#previous[which]!)
        this.#previous[which] = value
      }
    }
    if (this.#to === 0) return
    if (this.#before > 0) this.#refine(block)
    else this.#rest(block)
  }

  #rest(block: Int16Array): void {
    let zeros = 0
    for (let k = Math.max(1, this.#from); k <= this.#to; k++) {
      const value = Math.sign(block[k]!) * (Math.abs(block[k]!) >> this.#after)
      if (value === 0) zeros++
      else {
        this.#flush()
        for (; zeros > 15; zeros -= 16) this.#symbol(0xf0)
        this.#number(zeros, value)
        zeros = 0
      }
    }
    if (zeros > 0) this.#emptyBlocks++
    // Only progressive scans have runs of empty blocks.
    if (this.#from === 0) this.#flush()
  }

  #refine(block: Int16Array): void {
    const sizes = Array.from(block, (value) => Math.abs(value) >> this.#after)
    const last = sizes.lastIndexOf(1, this.#to)
    let zeros = 0
    let corrections = ''
    for (let k = this.#from; k <= this.#to; k++) {
      if (sizes[k] === 0) {
        zeros++
        continue
      }
      for (; zeros > 15 && k <= last; zeros -= 16) {
        this.#flush()
        this.#symbol(0xf0)
        this.#bits += corrections
        corrections = ''
      }
      if (sizes[k]! > 1) corrections += sizes[k]! & 1
      else {
        this.#flush()
        this.#symbol((zeros << 4) | 1)
        this.#bits += (block[k]! > 0 ? '1' : '0') + corrections
        corrections = ''
        zeros = 0
      }
    }
    if (zeros === 0 && corrections === '') return
    this.#emptyBlocks++
    this.#corrections += corrections
  }

  /** Ends a run of blocks that have nothing more. */
  #flush(): void {
    if (this.#emptyBlocks > 0) {
      const size = 31 - Math.clz32(this.#emptyBlocks)
      this.#symbol(size << 4)
      if (size > 0) this.#bits += this.#emptyBlocks.toString(2).slice(1)
    }
    this.#bits += this.#corrections
    this.#emptyBlocks = 0
    this.#corrections = ''
  }

  #symbol(symbol: number): void {
    this.#bits +=
      symbol < 128
        ? symbol.toString(2).padStart(9, '0')
        : (128 * 8 + symbol - 128).toString(2).padStart(12, '0')
  }

  #number(zeros: number, value: number): void {
    const size = 32 - Math.clz32(Math.abs(value))
    this.#symbol((zeros << 4) | size)
    if (size > 0) this.#bits += (value < 0 ? value + 2 ** size - 1 : value).toString(2).padStart(size, '0')
  }

  #align(): void {
    this.#flush()
    this.#bits = this.#bits.padEnd(Math.ceil(this.#bits.length / 8) * 8, '1')
    for (let at = 0; at < this.#bits.length; at += 8) {
      const byte = Number.parseInt(this.#bits.slice(at, at + 8), 2)
      this.#bytes.push(byte)
      if (byte === 255) this.#bytes.push(0)
    }
    this.#bits = ''
  }

  restart(): void {
    this.#align()
    this.#bytes.push(0xff, 0xd0 + (this.#restarts++ % 8))
    this.#previous = [0, 0, 0, 0]
  }

  end(): Buffer {
    this.#align()
    return Buffer.from(this.#bytes)
  }
}
