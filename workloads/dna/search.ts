/** Search: where a pattern matches a genome with few enough differences, by trying every position. */

import { reverseComplement } from './bases.ts'

export interface Match {
  /** Of its first base in the genome, counted from 0. */
  position: number
  strand: '+' | '-'
  differences: number
}

export interface SearchOptions {
  /** Most differences that a match may have. */
  mismatches: number
  bothStrands: boolean
  /** At most so many matches are kept; all are counted. */
  limit: number
}

export interface Findings<Kind> {
  total: number
  matches: Kind[]
}

/** Comparisons that take a few milliseconds. */
const comparisonsPerProgress = 2_000_000

export function search(
  genome: Uint8Array,
  pattern: Uint8Array,
  { mismatches, bothStrands, limit }: SearchOptions,
  progress: (fraction: number) => void,
): Findings<Match> {
  const matches: Match[] = []
  let total = 0
  const found = (position: number, strand: Match['strand'], differences: number) => {
    if (total++ < limit) matches.push({ position, strand, differences })
  }
  const reverse = reverseComplement(pattern)
  const end = genome.length - pattern.length + 1
  const perProgress = Math.ceil(comparisonsPerProgress / expectedComparisons(pattern, mismatches))
  for (let start = 0; start < end; start += perProgress) {
    const stop = Math.min(end, start + perProgress)
    for (let position = start; position < stop; position++) {
      const forward = differencesAt(genome, position, pattern, mismatches)
      if (forward <= mismatches) found(position, '+', forward)
      if (!bothStrands) continue
      const backward = differencesAt(genome, position, reverse, mismatches)
      if (backward <= mismatches) found(position, '-', backward)
    }
    progress(stop / end)
  }
  if (end <= 0) progress(1)
  return { total, matches }
}

/** Bases compared before the differences are looked at: to look after each one would cost more than it spares. */
export const block = 8

/** How many bases are compared at one position of a random genome, on average, until there are too many differences. */
export function expectedComparisons(pattern: Uint8Array, mismatches: number): number {
  let definite = 0
  for (let i = 0; i < pattern.length; i++) if (pattern[i]! < 16) definite++
  const differing = (0.75 * definite) / pattern.length
  return Math.min(pattern.length, (mismatches + 1) / Math.max(differing, 1e-9) + block / 2)
}

/** Exact up to `mismatches`; where there are more it stops early, and the count is only known to be above. */
function differencesAt(
  genome: Uint8Array,
  position: number,
  pattern: Uint8Array,
  mismatches: number,
): number {
  let differences = 0
  for (let start = 0; start < pattern.length && differences <= mismatches; start += block) {
    const end = Math.min(pattern.length, start + block)
    for (let i = start; i < end; i++) {
      // 1 if no bit is common, else 0: a sum costs the same whether bases match or not, a branch does not.
      differences += ((genome[position + i]! & pattern[i]!) - 1) >>> 31
    }
  }
  return differences
}
