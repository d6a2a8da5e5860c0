/** Align: stretches that two genomes share, by a local alignment (Smith-Waterman) within a band around the diagonal. */

import type { Findings } from './search.ts'

/** A stretch of the genome, and one of the other that is nearly the same. */
export interface Segment {
  position: number
  length: number
  otherPosition: number
  otherLength: number
  /** Bases that differ, are missing or are added. */
  differences: number
}

export interface AlignOptions {
  /** How far positions may lie apart. */
  band: number
  /** Shorter stretches are not told, even if they are the same. */
  minLength: number
  limit: number
}

const match = 2
const mismatch = -3
const gap = -5
/** In deciding where a stretch ends; higher than in the scores, so that it does not end in chance matches. */
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
  // A score that may grow for ever would carry an alignment over long stretches that are not shared.
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
 * One base of the genome against those of the other within the band, by diagonal: `d - band - 1` is how far the
 * other's position is ahead. The first and the last cell stay 0, so that nothing comes in from beyond the band.
 */
interface Row {
  readonly scores: Int32Array
  /** Of the alignment that ends in a cell: where in the genome it began, and in which diagonal. */
  readonly starts: Int32Array
  readonly diagonals: Int32Array
  readonly differences: Int32Array
}

function rowOf(band: number): Row {
  const cells = () => new Int32Array(2 * band + 3)
  return { scores: cells(), starts: cells(), diagonals: cells().map((_, d) => d), differences: cells() }
}

/**
 * Writes the row of this position over the one before, and returns the cell with the highest score. Chooses by
 * arithmetic, with numbers that are all ones or none: which bases match looks random, and branches that are guessed
 * wrong cost more.
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
  // A diagonal that comes into the other genome now.
  if (offset < 0) starts[first] = position
  let best = 0
  let bestScore = 0
  let before = scores[first]!
  // Of the cell written last.
  let score = 0
  let start = 0
  let diagonal = 0
  let difference = 0
  for (let d = first; d <= last; d++) {
    // Not yet written over, this cell is the one before in both genomes, and the next one that before in the genome.
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
    // One that ended leaves nothing: the next may begin one base further, in this diagonal.
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

/** Of alignments side by side, so many are told apart from new ones. */
const mostOpen = 8

interface OpenSegment {
  segment: Segment
  /** How good it was at its best: much like its score, but never cut off. */
  quality: number
}

/** Gathers the alignments that were the best at some position and scored enough, each up to where it was best. */
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

/** The one that begins there; as a rule it is the first. */
function findOpen(open: OpenSegment[], position: number, otherPosition: number): OpenSegment | undefined {
  for (let i = 0; i < open.length; i++) {
    const { segment } = open[i]!
    if (segment.position === position && segment.otherPosition === otherPosition) return open[i]
  }
  return undefined
}
