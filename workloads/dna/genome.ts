/** Generates genomes from a seed, and relatives that share stretches with a genome. */

import { scramble } from '../random/scramble.ts'

export interface Genome {
  readonly name: string
  /** A code for each base; see bases.ts. */
  readonly bases: Uint8Array
}

const basesPerWord = 16

export function generateGenome(seed: number, length: number): Genome {
  const bases = new Uint8Array(length)
  const first = scramble(seed)
  for (let start = 0, word = 0; start < length; start += basesPerWord, word++) {
    let bits = scramble(first + word)
    const end = Math.min(length, start + basesPerWord)
    for (let at = start; at < end; at++) {
      bases[at] = 1 << (bits & 3)
      bits >>>= 2
    }
  }
  return { name: `generated from seed ${seed}`, bases }
}

/** Length of a stretch; about two of three are kept. */
const stretch = 300

/**
 * As long as the original and aligned with it: stretches of the original with one base in `100 / divergence` changed,
 * or rarely deleted or inserted, and random stretches between them.
 */
export function relativeOf(original: Uint8Array, seed: number, divergence: number): Genome {
  const bases = new Uint8Array(original.length)
  const first = scramble(~seed)
  const changed = Math.round((divergence / 100) * 2 ** 24)
  let from = 0
  for (let at = 0; at < bases.length; at++) {
    const chance = scramble(first + at)
    const isNew = scramble(first ^ Math.floor(at / stretch)) % 3 === 0
    const changes = chance >>> 8 < changed
    bases[at] = isNew || changes || from >= original.length ? 1 << (chance & 3) : original[from]!
    // One change in 16 is an insertion or deletion, alternating so that the genomes stay aligned.
    if (changes && (chance & 60) === 0) from += from > at ? 0 : 2
    else from++
  }
  return { name: 'a generated relative', bases }
}
