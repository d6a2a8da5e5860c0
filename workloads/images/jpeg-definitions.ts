/** Reads the tables of a JPEG and prepares Huffman codes for fast decoding. */

import { damaged } from './picture.ts'

/** A Huffman code as stored: the number of symbols with 1, 2, … 16 bits, then the symbols. */
export interface HuffmanSource {
  counts: Uint8Array
  symbols: Uint8Array
}

export interface HuffmanDecoder {
  /** By the next 9 bits: the symbol and, 8 bits higher, the length of its code; 0 if the code is longer. */
  short: Uint16Array
  /** By length: the largest code + 1, as 16 bits; and the offset from a code to the index of its symbol. */
  limits: Int32Array
  places: Int32Array
  symbols: Uint8Array
}

/** Writes to `tables`: DC tables by their number, AC tables 16 higher. */
export function readHuffmanTables(data: Uint8Array, tables: HuffmanSource[]): void {
  for (let at = 0; at < data.length; ) {
    const kind = data[at]!
    const counts = data.subarray(at + 1, at + 17)
    const end = at + 17 + counts.reduce((sum, count) => sum + count, 0)
    if (counts.length < 16 || end > data.length || (kind & 0xec) !== 0) {
      throw damaged('jpeg', 'a Huffman table is invalid')
    }
    tables[kind] = { counts, symbols: data.subarray(at + 17, end) }
    at = end
  }
}

/** Writes to `tables`, in zigzag order. */
export function readQuantization(data: Uint8Array, tables: Uint16Array[]): void {
  for (let at = 0; at < data.length; ) {
    const kind = data[at]!
    const bytes = kind >> 4 === 0 ? 1 : 2
    const values = data.subarray(at + 1, at + 1 + 64 * bytes)
    if (kind >> 4 > 1 || (kind & 15) > 3 || values.length < 64 * bytes) {
      throw damaged('jpeg', 'a quantization table is invalid')
    }
    tables[kind & 15] = Uint16Array.from({ length: 64 }, (_, i) =>
      bytes === 1 ? values[i]! : (values[2 * i]! << 8) | values[2 * i + 1]!,
    )
    at += 1 + 64 * bytes
  }
}

export function huffmanDecoder(source: HuffmanSource | undefined): HuffmanDecoder {
  if (!source) throw damaged('jpeg', 'a Huffman table is missing')
  const { counts, symbols } = source
  const short = new Uint16Array(512)
  const limits = new Int32Array(17)
  const places = new Int32Array(17)
  let [code, next] = [0, 0]
  for (let length = 1; length <= 16; length++) {
    places[length] = next - code
    for (let i = 0; i < counts[length - 1]!; i++, code++, next++) {
      if (length > 9) continue
      const first = code << (9 - length)
      short.fill((length << 8) | symbols[next]!, first, first + (1 << (9 - length)))
    }
    if (code > 1 << length) throw damaged('jpeg', 'a Huffman table has too many codes')
    limits[length] = code << (16 - length)
    code <<= 1
  }
  return { short, limits, places, symbols }
}
