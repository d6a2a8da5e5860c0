/** The tables of annex K of the JPEG standard, scaled by quality as in most encoders. */

/** Index in an 8 × 8 block of each coefficient in zigzag order. */
export const zigzag = bytes(
  '000108100902030a11182019120b04050c131a21283029221b140d06070e151c',
  '232a313839322b241d160f171e252c333a3b342d261f272e353c3d362f373e3f',
)

export interface HuffmanCode {
  /** Number of symbols with codes of 1, 2, … 16 bits. */
  counts: Uint8Array
  /** In order of their codes. */
  symbols: Uint8Array
  /** By symbol. */
  bits: Uint16Array
  lengths: Uint8Array
}

const sizes = bytes('000102030405060708090a0b')
export const luminanceCodes = {
  dc: huffman(bytes('00010501010101010100000000000000'), sizes),
  ac: huffman(
    bytes('0002010303020403050504040000017d'),
    bytes(
      '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a343536',
      '3738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999a',
      'a2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7',
      'f8f9fa',
    ),
  ),
}
export const chrominanceCodes = {
  dc: huffman(bytes('00030101010101010101010000000000'), sizes),
  ac: huffman(
    bytes('00020102040403040705040400010277'),
    bytes(
      '000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35',
      '363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798',
      '999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7',
      'f8f9fa',
    ),
  ),
}

/** Quantization divisors at quality 50, in rows. */
const luminance = bytes(
  '100b0a101828333d0c0c0e131a3a3c370e0d1018283945380e11161d3357503e',
  '12162538446d674d182337405168715c31404e5767797865485c5f6270646763',
)
const chrominance = bytes(
  '1112182f6363636312151a4263636363181a3863636363632f42636363636363',
  '6363636363636363636363636363636363636363636363636363636363636363',
)

/** `quality` from 1 to 100. */
export function divisors(quality: number): { luminance: Uint8Array; chrominance: Uint8Array } {
  const percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
  const scaled = (table: Uint8Array) =>
    table.map((divisor) => Math.min(255, Math.max(1, Math.floor((divisor * percent + 50) / 100))))
  return { luminance: scaled(luminance), chrominance: scaled(chrominance) }
}

function huffman(counts: Uint8Array, symbols: Uint8Array): HuffmanCode {
  const bits = new Uint16Array(256)
  const lengths = new Uint8Array(256)
  let [code, next] = [0, 0]
  counts.forEach((count, i) => {
    for (const symbol of symbols.subarray(next, next + count)) {
      bits[symbol] = code++
      lengths[symbol] = i + 1
    }
    next += count
    code <<= 1
  })
  return { counts, symbols, bits, lengths }
}

function bytes(...hex: string[]): Uint8Array {
  return new Uint8Array(Buffer.from(hex.join(''), 'hex'))
}
