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
  /** Of the alignment that ends in a cell: bases of the genome, and diagonals up since it began. */
  readonly lengths: Int32Array
  readonly shifts: Int32Array
  readonly differences: Int32Array
}

function rowOf(band: number): Row {
  const cells = () => new Int32Array(2 * band + 3)
  return { scores: cells(), lengths: cells(), shifts: cells(), differences: cells() }
}

/** Writes the row of this position over the one before, and returns the cell with the highest score. */
function alignBase(
  base: number,
  position: number,
  other: Uint8Array,
  { scores, lengths, shifts, differences }: Row,
  band: number,
  most: number,
): number {
  const offset = position - band - 1
  const first = Math.max(1, -offset)
  const last = Math.min(2 * band + 1, other.length - 1 - offset)
  let best = 0
  let bestScore = 0
  let before = scores[first]!
  let written = 0
  for (let d = first; d <= last; d++) {
    // Not yet written over, this cell is the one before in both genomes, and the next one that before in the genome.
    const next = scores[d + 1]!
    // By arithmetic, because which bases match looks random, and a branch that is guessed wrong costs more.
    const differs = ((base & other[offset + d]! & 15) - 1) >>> 31
    const along = before + match - differs * (match - mismatch)
    // All ones if the alignment goes on; none if it ends, so that it leaves nothing.
    const goesOn = -along >> 31
    let score = along & goesOn
    lengths[d] = (lengths[d]! + 1) & goesOn
    shifts[d] = shifts[d]! & goesOn
    differences[d] = (differences[d]! + differs) & goesOn
    if (next + gap > score) {
      score = next + gap
      lengths[d] = lengths[d + 1]! + 1
      shifts[d] = shifts[d + 1]! - 1
      differences[d] = differences[d + 1]! + 1
    }
    if (written + gap > score) {
      score = written + gap
      lengths[d] = lengths[d - 1]!
      shifts[d] = shifts[d - 1]! + 1
      differences[d] = differences[d - 1]! + 1
    }
    if (score > most) score = most
    if (score > bestScore) {
      bestScore = score
      best = d
    }
    scores[d] = score
    written = score
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
    add({ scores, lengths, shifts, differences }: Row, at: number, end: number): void {
      if (scores[at]! < enough) return
      const length = lengths[at]!
      const otherLength = length + shifts[at]!
      const position = end + 1 - length
      const otherPosition = position + at - shifts[at]! - band - 1
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
