/** Decodes the coefficients of a JPEG scan block by block: baseline, or one of the four kinds of progressive scans. */

import { BitReader } from './jpeg-bit-reader.ts'
import { type HuffmanDecoder, huffmanDecoder } from './jpeg-definitions.ts'
import type { Scan } from './jpeg-segments.ts'
import { zigzag } from './jpeg-tables.ts'
import { damaged } from './picture.ts'

export class BlockDecoder {
  readonly #scan: Scan
  readonly #progressive: boolean
  readonly #reader: BitReader
  /** Huffman tables by component of the scan. */
  readonly #dc: (HuffmanDecoder | undefined)[]
  readonly #ac: (HuffmanDecoder | undefined)[]
  /** Last DC coefficient by component. */
  readonly #previous: Int32Array
  /** Number of following blocks without further coefficients in this scan. */
  #emptyBlocks = 0

  constructor(scan: Scan, progressive: boolean) {
    const { from, to, before, components, data } = scan
    this.#scan = scan
    this.#progressive = progressive
    this.#reader = new BitReader(data)
    this.#dc = components.map((part) => (from === 0 && before === 0 ? huffmanDecoder(part.dc) : undefined))
    this.#ac = components.map((part) => (to > 0 ? huffmanDecoder(part.ac) : undefined))
    this.#previous = new Int32Array(components.length)
  }

  /** Decodes one block of the scan's `which`-th component into `coefficients` at `at`. */
  decode(which: number, coefficients: Int16Array, at: number): void {
    const { from, to, before, after } = this.#scan
    if (from === 0) {
      if (before === 0) this.#first(which, coefficients, at)
      else if (this.#reader.bits(1) === 1) coefficients[at] = coefficients[at]! | (1 << after)
      if (to > 0) this.#rest(this.#ac[which]!, coefficients, at)
    } else if (before > 0) this.#refineRest(this.#ac[which]!, coefficients, at)
    else if (this.#emptyBlocks > 0) this.#emptyBlocks--
    else this.#rest(this.#ac[which]!, coefficients, at)
  }

  restart(): void {
    this.#reader.restart()
    this.#previous.fill(0)
    this.#emptyBlocks = 0
  }

  #first(which: number, coefficients: Int16Array, at: number): void {
    const reader = this.#reader
    const previous = this.#previous
    previous[which] = previous[which]! + reader.signed(reader.symbol(this.#dc[which]!))
    coefficients[at] = previous[which]! << this.#scan.after
  }

  #rest(table: HuffmanDecoder, coefficients: Int16Array, at: number): void {
    const { from, to, after } = this.#scan
    const reader = this.#reader
    for (let i = Math.max(1, from); i <= to; i++) {
      const symbol = reader.symbol(table)
      const size = symbol & 15
      const zeros = symbol >> 4
      if (size === 0 && zeros < 15) {
        this.#emptyBlocks = (1 << zeros) - 1 + reader.bits(zeros)
        if (!this.#progressive && zeros > 0) throw damaged('jpeg', 'a scan has a code of progressive files')
        return
      }
      i += zeros
      if (size === 0) continue
      if (i > to) throw damaged('jpeg', 'a block has too many coefficients')
      coefficients[at + zigzag[i]!] = reader.signed(size) << after
    }
  }

  #refineRest(table: HuffmanDecoder, coefficients: Int16Array, at: number): void {
    const { from, to, after } = this.#scan
    const reader = this.#reader
    let i = from
    while (this.#emptyBlocks === 0 && i <= to) {
      const symbol = reader.symbol(table)
      const size = symbol & 15
      const zeros = symbol >> 4
      if (size > 1) throw damaged('jpeg', 'a scan refines by more than one bit')
      if (size === 0 && zeros < 15) {
        this.#emptyBlocks = (1 << zeros) + reader.bits(zeros)
        break
      }
      const value = size === 0 ? 0 : reader.bits(1) === 1 ? 1 << after : -1 << after
      i = this.#refine(coefficients, at, i, zeros)
      if (i <= to && value !== 0) coefficients[at + zigzag[i]!] = value
      i++
    }
    if (this.#emptyBlocks === 0) return
    this.#refine(coefficients, at, i, 64)
    this.#emptyBlocks--
  }

  /** Reads one more bit of each non-zero coefficient, up to the `zeros`-th zero one; returns the index of that one. */
  #refine(coefficients: Int16Array, at: number, start: number, zeros: number): number {
    const { to, after } = this.#scan
    const reader = this.#reader
    let left = zeros
    for (let i = start; i <= to; i++) {
      const place = at + zigzag[i]!
      const value = coefficients[place]!
      if (value === 0) {
        if (left-- === 0) return i
      } else if (reader.bits(1) === 1 && (value & (1 << after)) === 0) {
        coefficients[place] = value + (value > 0 ? 1 << after : -1 << after)
      }
    }
    return to + 1
  }
}
