/** Requests of dna from milliseconds to seconds: searches with short and long patterns, alignments, uploads. */

import { scramble } from '../../workloads/random/scramble.ts'
import type { MeterCase } from './case.ts'

const letters = 'ACGT'

export const cases: MeterCase[] = [
  { params: { length: 200_000, mismatches: 0, strands: 'forward' } },
  { params: { mode: 'align', length: 10_000, band: 20 } },
  { params: { length: 50_000, pattern: random(60, 1), mismatches: 10 } },
  { params: { length: 600_000, pattern: 'TATAWAW'.replaceAll('W', 'N'), output: 'html' } },
  { params: { mismatches: 3, pattern: random(20, 2) }, body: fasta([100_000], 3) },
  { params: { mode: 'align', length: 1000, band: 500 } },
  { params: { length: 100_000, pattern: random(200, 4), mismatches: 30, strands: 'forward' } },
  { params: { mode: 'align', output: 'html' }, body: fasta([20_000], 5) },
  { params: { length: 3_000_000, pattern: 'GATTACAGATTACA', mismatches: 0 } },
  { params: { length: 400_000, pattern: random(100, 6), mismatches: 20 } },
  { params: { mode: 'align', length: 100_000, band: 32 } },
  { params: { length: 10_000_000, pattern: random(12, 7), mismatches: 1, strands: 'forward' } },
  { params: { mode: 'align', band: 1000 }, body: fasta([10_000, 9000], 8) },
  { params: { length: 500_000, pattern: random(500, 9), mismatches: 120 } },
  { params: { length: 2_000_000, pattern: 'ACGTNNNNNNNNNNNNACGT', mismatches: 4 } },
  { params: { mode: 'align', length: 1_000_000, band: 16, divergence: 20 } },
  { params: { length: 10_000_000, pattern: random(30, 10), mismatches: 6 } },
  { params: { mode: 'align', length: 40_000, band: 1000, divergence: 0 } },
  { params: { pattern: random(300, 11), mismatches: 60 }, body: fasta([3_000_000], 12) },
  { params: { mode: 'align', length: 3_000_000, band: 16 } },
  { params: { length: 10_000_000, pattern: random(100, 14), mismatches: 40 } },
]

function random(length: number, seed: number): string {
  let text = ''
  for (let at = 0; at < length; at++) text += letters[scramble(seed * 1_000_003 + at) & 3]
  return text
}

/** Genomes of these lengths, in lines of 60 letters. */
function fasta(lengths: number[], seed: number): () => Uint8Array {
  return () => {
    const records = lengths.map((length, record) => {
      const lines = [`>genome ${record + 1}`]
      for (let at = 0; at < length; at += 60) lines.push(random(Math.min(60, length - at), seed + at))
      return lines.join('\n')
    })
    return Buffer.from(records.join('\n'))
  }
}
