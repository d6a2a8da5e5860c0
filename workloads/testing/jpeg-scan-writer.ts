/** Writes the data of a JPEG scan as a string of bits: slow and simple, for tests. */

/** Symbols below 128 have codes of 9 bits, others of 12. */
export class ScanWriter {
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

  /** Ends a run of empty blocks. */
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
