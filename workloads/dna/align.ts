/** Finds stretches that two genomes share, by local alignment (Smith-Waterman) in a band around the diagonal. */

import type { Findings } from './search.ts'

/** A stretch of the genome and a nearly identical one of the other genome. */
export interface Segment {
  position: number
  length: number
  otherPosition: number
  otherLength: number
  /** Substituted, deleted and inserted bases. */
  differences: number
}

export interface AlignOptions {
  /** Maximum offset between positions. */
  band: number
  /** Shorter stretches are not reported. */
  minLength: number
  limit: number
}

const match = 2
const mismatch = -3
const gap = -5
/** Used to decide where a stretch ends; higher than the penalties, so that it does not end in random matches. */
const differenceCost = 6
/** Cells that take a few milliseconds. */
const cellsPerProgress = 500_000

export function cellsOf(length: number, otherLength: number, band: number): number {
  return length * Math.min(otherLength, 2 * band + 1)
}

export function align(
  genome: Uint8Array,
  other: Uint8Array,
  { band, minLength, limit }: AlignOptions,
  progress: (fraction: number) => void,
): Findings<Segment> {
  // An unbounded score would carry an alignment over long stretches that are not shared.
  const most = 2 * minLength * match
  const row = rowOf(band)
  const segments = collect(minLength * match, limit, band)
  const rowsPerProgress = Math.ceil(cellsPerProgress / Math.min(2 * band + 1, other.length))
  for (let position = 0; position < genome.length; position++) {
    const best = alignBase(genome[position]!, position, other, row, band, most)
    segments.add(row, best, position)
    if (position % rowsPerProgress === 0) progress(position / genome.length)
  }
  progress(1)
  return segments.findings
}

/**
 * One base of the genome against the other genome's bases in the band, by diagonal: the other position is ahead by
 * `d - band - 1`. The first and last cell stay 0, so that no alignment enters from outside the band.
 */
interface Row {
  readonly scores: Int32Array
  /** Start position and start diagonal of the alignment that ends in a cell. */
  readonly starts: Int32Array
  readonly diagonals: Int32Array
  readonly differences: Int32Array
}

function rowOf(band: number): Row {
  const cells = () => new Int32Array(2 * band + 3)
  return { scores: cells(), starts: cells(), diagonals: cells().map((_, d) => d), differences: cells() }
}

/**
 * Overwrites the previous row with the row of this position, and returns the cell with the highest score. Uses bit masks
 * instead of branches: matches are random, so branches would often be mispredicted.
 */
function alignBase(
  base: number,
  position: number,
  other: Uint8Array,
  { scores, starts, diagonals, differences }: Row,
  band: number,
  most: number,
): number {
  const offset = position - band - 1
  const first = Math.max(1, -offset)
  const last = Math.min(2 * band + 1, other.length - 1 - offset)
  // A diagonal that enters the other genome at this position.
  if (offset < 0) starts[first] = position
  let best = 0
  let bestScore = 0
  let before = scores[first]!
  // Values of the cell written last.
  let score = 0
  let start = 0
  let diagonal = 0
  let difference = 0
  for (let d = first; d <= last; d++) {
    // Before it is overwritten, this cell is the previous one in both genomes, and the next cell the previous in this one.
    const next = scores[d + 1]!
    const differs = ((base & other[offset + d]! & 15) - 1) >>> 31
    const along = before + match - differs * (match - mismatch)
    const left = score + gap
    const over = next + gap
    const goesOn = -along >> 31
    score = along & goesOn
    const fromOver = (score - over) >> 31
    score += (over - score) & fromOver
    const fromLeft = (score - left) >> 31
    score += (left - score) & fromLeft
    // After an alignment has ended, the next may begin one base further in this diagonal.
    const begin = position + 1 + ((starts[d]! - position - 1) & goesOn)
    const beginDiagonal = d + ((diagonals[d]! - d) & goesOn)
    const there = begin + ((starts[d + 1]! - begin) & fromOver)
    const thereDiagonal = beginDiagonal + ((diagonals[d + 1]! - beginDiagonal) & fromOver)
    const along1 = (differences[d]! + differs) & goesOn
    const there1 = along1 + ((differences[d + 1]! + 1 - along1) & fromOver)
    start = there + ((start - there) & fromLeft)
    diagonal = thereDiagonal + ((diagonal - thereDiagonal) & fromLeft)
    difference = there1 + ((difference + 1 - there1) & fromLeft)
    score -= (score - most) & ((most - score) >> 31)
    if (score > bestScore) {
      bestScore = score
      best = d
    }
    scores[d] = score
    starts[d] = start
    diagonals[d] = diagonal
    differences[d] = difference
    before = next
  }
  return best
}

/** Number of recent alignments that are distinguished from new ones. */
const mostOpen = 8

interface OpenSegment {
  segment: Segment
  /** Its best quality so far: similar to the score, but unbounded. */
  quality: number
}

/** Collects alignments that were best at some position with a sufficient score, each up to its best point. */
function collect(enough: number, limit: number, band: number) {
  const findings: Findings<Segment> = { total: 0, matches: [] }
  const open: OpenSegment[] = []
  return {
    findings,
    add({ scores, starts, diagonals, differences }: Row, at: number, end: number): void {
      if (scores[at]! < enough) return
      const position = starts[at]!
      const length = end + 1 - position
      const otherLength = length + at - diagonals[at]!
      const otherPosition = position + diagonals[at]! - band - 1
      let known = findOpen(open, position, otherPosition)
      if (!known) {
        const segment = { position, length, otherPosition, otherLength, differences: 0 }
        known = { segment, quality: -Infinity }
        open.unshift(known)
        if (open.length > mostOpen) open.pop()
        if (findings.total++ < limit) findings.matches.push(segment)
      }
      const quality = length + otherLength - differences[at]! * differenceCost
      if (quality <= known.quality) return
      known.quality = quality
      known.segment.length = length
      known.segment.otherLength = otherLength
      known.segment.differences = differences[at]!
    },
  }
}

/** The alignment that begins there, usually the first. */
function findOpen(open: OpenSegment[], position: number, otherPosition: number): OpenSegment | undefined {
  for (let i = 0; i < open.length; i++) {
    const { segment } = open[i]!
    if (segment.position === position && segment.otherPosition === otherPosition) return open[i]
  }
  return undefined
}
