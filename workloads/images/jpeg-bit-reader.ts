/** Reads bits, Huffman symbols and numbers of a JPEG scan. */

import type { HuffmanDecoder } from './jpeg-definitions.ts'
import { damaged } from './picture.ts'

export class BitReader {
  readonly #data: Uint8Array
  #at = 0
  #held = 0
  #count = 0
  /** Number of zero bits appended after the end of the data. */
  #padding = 0

  constructor(data: Uint8Array) {
    this.#data = data
  }

  /** Ensures at least 17 bits; beyond the end of the data or a restart marker they are zeros. */
  #fill(): void {
    const data = this.#data
    while (this.#count <= 16) {
      let byte = this.#at < data.length ? data[this.#at]! : -1
      if (byte === 0xff && data[this.#at + 1] !== 0) byte = -1
      if (byte < 0) {
        this.#held <<= 8
        this.#padding += 8
      } else {
        this.#held = (this.#held << 8) | byte
        this.#at += byte === 0xff ? 2 : 1
      }
      this.#count += 8
    }
  }

  #skip(count: number): void {
    this.#count -= count
    if (this.#count < this.#padding) throw damaged('jpeg', 'the data of a scan ends too early')
  }

  /** The next `count` bits as a number; `count` is at most 16. */
  bits(count: number): number {
    if (this.#count < count) this.#fill()
    const value = (this.#held >>> (this.#count - count)) & ((1 << count) - 1)
    this.#skip(count)
    return value
  }

  symbol({ short, limits, places, symbols }: HuffmanDecoder): number {
    if (this.#count < 16) this.#fill()
    const found = short[(this.#held >>> (this.#count - 9)) & 511]!
    if (found !== 0) {
      this.#skip(found >> 8)
      return found & 255
    }
    const code = (this.#held >>> (this.#count - 16)) & 0xffff
    for (let length = 10; length <= 16; length++) {
      if (code >= limits[length]!) continue
      this.#skip(length)
      return symbols[(code >> (16 - length)) + places[length]!]!
    }
    throw damaged('jpeg', 'a scan has a code that is missing in its Huffman table')
  }

  /** A number of `size` bits whose first bit is the sign. */
  signed(size: number): number {
    if (size === 0) return 0
    if (size > 15) throw damaged('jpeg', `a scan has a number of ${size} bits`)
    const value = this.bits(size)
    return value < 1 << (size - 1) ? value - (1 << size) + 1 : value
  }

  /** Continues after the next restart marker. */
  restart(): void {
    const data = this.#data
    while (this.#at < data.length && !(data[this.#at] === 0xff && data[this.#at + 1] !== 0)) this.#at++
    if (this.#at >= data.length) throw damaged('jpeg', 'a restart marker is missing')
    this.#at += 2
    this.#held = this.#count = this.#padding = 0
  }
}
