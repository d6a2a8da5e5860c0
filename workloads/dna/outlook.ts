/** How many bases a search compares, from the pattern alone, and how many an upload holds, from its beginning. */

import type { BodyFacts } from 'plimsoll/workload'
import { block } from './search.ts'

/** How often two random bases differ. */
const differing = 0.75
/** Rarer than this, a comparison goes no further. */
const rare = 0.002

/** Bases compared at one position of a random genome, on average, on one strand or the other. */
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

/** How likely it is that of so many bases no more than `most` differ. */
function atMost(most: number, bases: number): number {
  if (most >= bases) return 1
  // A bell curve, and its sum by a logistic one, which is near enough.
  const away = (most + 0.5 - bases * differing) / Math.sqrt(bases * differing * (1 - differing))
  return 1 / (1 + Math.exp(-1.702 * away))
}

/** Of the first genome and the second; of one if no other begins within the head. */
export function likelyLengths({ bytes, head }: BodyFacts): [first: number, second: number | undefined] {
  // A Buffer looks for a byte many times faster than an array does.
  const second = Buffer.from(head.buffer, head.byteOffset, head.byteLength).indexOf(recordMark, 1)
  return second < 0 ? [bytes, undefined] : [second, bytes - second]
}

const recordMark = '>'.charCodeAt(0)
