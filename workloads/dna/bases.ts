/** Encodes bases as bits, so that one `&` tells whether a genome and a pattern match. */

/** Each base has one bit; an unknown base (N) has its own bit, which only a wildcard shares. */
const codes: Readonly<Record<string, number>> = { A: 1, C: 2, G: 4, T: 8, N: 16 }
const complements: Readonly<Record<number, number>> = { 1: 8, 2: 4, 4: 2, 8: 1 }
const wildcard = 31

export const unknown = 16

/** By character code, in both cases: a base, `unknown` for IUPAC letters that stand for several bases, else 0. */
export const codeOfCharacter = new Uint8Array(256)
for (const letter of 'RYSWKMBDHVN') setLetter(letter, unknown)
for (const letter of 'ACGT') setLetter(letter, codes[letter]!)
setLetter('U', codes.T!)

function setLetter(letter: string, code: number): void {
  codeOfCharacter[letter.charCodeAt(0)] = code
  codeOfCharacter[letter.toLowerCase().charCodeAt(0)] = code
}

/** `pattern` holds the letters ACGT, and N for any base. */
export function encodePattern(pattern: string): Uint8Array {
  return Uint8Array.from(pattern, (letter) => (letter === 'N' ? wildcard : codes[letter]!))
}

/** The pattern on the other strand, which is read in reverse. */
export function reverseComplement(pattern: Uint8Array): Uint8Array {
  return pattern.map((code) => complements[code] ?? code).reverse()
}

export function letterOf(code: number): string {
  return code === 1 ? 'A' : code === 2 ? 'C' : code === 4 ? 'G' : code === 8 ? 'T' : 'N'
}
