/** Finds all positions where a pattern matches a genome with a limited number of differences. */

import { reverseComplement } from './bases.ts'

export interface Match {
  /** Index of its first base in the genome. */
  position: number
  strand: '+' | '-'
  differences: number
}

export interface SearchOptions {
  /** Maximum number of differences. */
  mismatches: number
  bothStrands: boolean
  /** Maximum number of matches kept; all are counted. */
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

/** Bases compared before the differences are checked: a check after each base would cost more than it saves. */
export const block = 8

/** Mean number of bases compared at one position of a random genome until there are too many differences. */
export function expectedComparisons(pattern: Uint8Array, mismatches: number): number {
  let definite = 0
  for (let i = 0; i < pattern.length; i++) if (pattern[i]! < 16) definite++
  const differing = (0.75 * definite) / pattern.length
  return Math.min(pattern.length, (mismatches + 1) / Math.max(differing, 1e-9) + block / 2)
}

/** Exact up to `mismatches`; with more it stops early and returns some larger number. */
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
      // Adds 1 if no bit is common. Arithmetic avoids a branch that would often be mispredicted.
      differences += ((genome[position + i]! & pattern[i]!) - 1) >>> 31
    }
  }
  return differences
}
