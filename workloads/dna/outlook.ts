/** Predicts the comparisons of a search from its pattern, and the lengths of uploaded genomes from the first bytes. */

import type { BodyFacts } from 'plimsoll/workload'
import { block } from './search.ts'

/** Probability that two random bases differ. */
const differing = 0.75
/** Continuations less likely than this are ignored. */
const rare = 0.002

/** Mean number of bases compared at one position of a random genome, on the given strand. */
export function likelyComparisons(pattern: string, mismatches: number, strand: '+' | '-'): number {
  const last = pattern.length - 1
  let compared = 0
  let definite = 0
  let goesOn = 1
  for (let at = 0; at <= last && goesOn > rare; at += block) {
    const end = Math.min(at + block, pattern.length)
    compared += goesOn * (end - at)
    for (let i = at; i < end; i++)
      if (pattern.charCodeAt(strand === '+' ? i : last - i) !== letterN) definite++
    goesOn = atMost(mismatches, definite)
  }
  return compared
}

const letterN = 'N'.charCodeAt(0)

/** Probability that at most `most` of `bases` random bases differ. */
function atMost(most: number, bases: number): number {
  if (most >= bases) return 1
  // Normal approximation, with a logistic function for its integral.
  const away = (most + 0.5 - bases * differing) / Math.sqrt(bases * differing * (1 - differing))
  return 1 / (1 + Math.exp(-1.702 * away))
}

/** Lengths of the first and second genome; only the first if no second one begins within the head. */
export function likelyLengths({ bytes, head }: BodyFacts): [first: number, second: number | undefined] {
  // Buffer.indexOf is many times faster than that of a Uint8Array.
  const second = Buffer.from(head.buffer, head.byteOffset, head.byteLength).indexOf(recordMark, 1)
  return second < 0 ? [bytes, undefined] : [second, bytes - second]
}

const recordMark = '>'.charCodeAt(0)
