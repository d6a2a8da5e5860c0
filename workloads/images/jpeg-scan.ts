/** Decodes the coefficients of a JPEG scan, block by block: baseline, or one of the four kinds of progressive scans. */

import { BitReader } from './jpeg-bit-reader.ts'
import { type HuffmanDecoder, huffmanDecoder } from './jpeg-definitions.ts'
import type { Scan } from './jpeg-segments.ts'
import { zigzag } from './jpeg-tables.ts'
import { damaged } from './picture.ts'

/** Decodes what the scan has for one block of its `which`-th component, at `at` in `coefficients`. */
export interface BlockDecoder {
  decode(which: number, coefficients: Int16Array, at: number): void
  restart(): void
}

export function blockDecoder(scan: Scan, progressive: boolean): BlockDecoder {
  const { from, to, before, after } = scan
  const reader = new BitReader(scan.data)
  const dc = scan.components.map((part) => (from === 0 && before === 0 ? huffmanDecoder(part.dc) : undefined))
  const ac = scan.components.map((part) => (to > 0 ? huffmanDecoder(part.ac) : undefined))
  const previous = new Int32Array(scan.components.length)
  /** So many blocks to come have nothing more in this scan. */
  let emptyBlocks = 0

  function first(which: number, coefficients: Int16Array, at: number): void {
    previous[which] = previous[which]! + reader.signed(reader.symbol(dc[which]!))
    coefficients[at] = previous[which]! << after
  }

  function rest(table: HuffmanDecoder, coefficients: Int16Array, at: number): void {
    for (let i = Math.max(1, from); i <= to; i++) {
      const symbol = reader.symbol(table)
      const size = symbol & 15
      const zeros = symbol >> 4
      if (size === 0 && zeros < 15) {
        emptyBlocks = (1 << zeros) - 1 + reader.bits(zeros)
        if (!progressive && zeros > 0) throw damaged('jpeg', 'a scan has a code of progressive files')
        return
      }
      i += zeros
      if (size === 0) continue
      if (i > to) throw damaged('jpeg', 'a block has too many coefficients')
      coefficients[at + zigzag[i]!] = reader.signed(size) << after
    }
  }

  /** Reads one more bit of each coefficient that is not zero, up to the `zeros`-th that is; tells where it is. */
  function refine(coefficients: Int16Array, at: number, start: number, zeros: number): number {
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

  function refineRest(table: HuffmanDecoder, coefficients: Int16Array, at: number): void {
    let i = from
    while (emptyBlocks === 0 && i <= to) {
      const symbol = reader.symbol(table)
      const size = symbol & 15
      const zeros = symbol >> 4
      if (size > 1) throw damaged('jpeg', 'a scan refines by more than one bit')
      if (size === 0 && zeros < 15) {
        emptyBlocks = (1 << zeros) + reader.bits(zeros)
        break
      }
      const value = size === 0 ? 0 : reader.bits(1) === 1 ? 1 << after : -1 << after
      i = refine(coefficients, at, i, zeros)
      if (i <= to && value !== 0) coefficients[at + zigzag[i]!] = value
      i++
    }
    if (emptyBlocks === 0) return
    refine(coefficients, at, i, 64)
    emptyBlocks--
  }

  return {
    decode(which, coefficients, at) {
      if (from === 0) {
        if (before === 0) first(which, coefficients, at)
        else if (reader.bits(1) === 1) coefficients[at] = coefficients[at]! | (1 << after)
        if (to > 0) rest(ac[which]!, coefficients, at)
      } else if (before > 0) refineRest(ac[which]!, coefficients, at)
      else if (emptyBlocks > 0) emptyBlocks--
      else rest(ac[which]!, coefficients, at)
    },
    restart() {
      reader.restart()
      previous.fill(0)
      emptyBlocks = 0
    },
  }
}
