/** DNA: finds a pattern in a genome, or stretches that two genomes share. Responds with JSON or HTML. */

import { defineWorkload, Refusal, reply } from 'plimsoll/workload'
import { z } from 'zod'
import { align, cellsOf, type Segment } from './dna/align.ts'
import { encodePattern, reverseComplement } from './dna/bases.ts'
import { type Genome, generateGenome, relativeOf } from './dna/genome.ts'
import { likelyComparisons, likelyLengths } from './dna/outlook.ts'
import { type Highlight, renderPage } from './dna/page.ts'
import { type Findings, type Match, search } from './dna/search.ts'
import { mostBases, readGenomes } from './dna/upload.ts'
import { choice, expected, parameters, real, whole } from './params/fields.ts'

/** Fixed cost per base: of a search in comparisons (more for a second strand), of an alignment in cells. */
const perPosition = 3
const perSecondStrand = 2
const perAligned = 6
/** Limit of the alignment's cells: about 20 s. */
const mostCells = 2_000_000_000

const error = expected('1 to 1000 of the letters A, C, G, T and N (any base), at least one of them not N')
const pattern = z
  .string({ error })
  .regex(/^[acgtn]{1,1000}$/i, { error, abort: true })
  .regex(/[acgt]/i, { error })
  .overwrite((letters) => letters.toUpperCase())

const params = parameters({
  mode: choice(['search', 'align'])
    .default('search')
    .describe('search: find the pattern in the genome; align: find stretches shared with another genome'),
  length: whole({ min: 1, max: mostBases })
    .default(100_000)
    .describe('Bases of the generated genome; ignored if a genome is uploaded'),
  seed: whole({ min: 0, max: 4_294_967_295 }).default(1).describe('Seed of the generated genome'),
  pattern: pattern.default('GATTACA').describe('Pattern to search for; N matches any base'),
  mismatches: whole({ min: 0, max: 300 }).default(1).describe('Maximum number of differences in a match'),
  strands: choice(['forward', 'both']).default('both').describe('Search one strand or both'),
  band: whole({ min: 1, max: 2000 }).default(32).describe('Maximum offset between shared stretches in align'),
  minLength: whole({ min: 12, max: 1000 })
    .default(40)
    .describe('Minimum length of a shared stretch in align'),
  divergence: real({ min: 0, max: 50 })
    .default(3)
    .describe('Percentage of differing bases in the relative that align generates for a single genome'),
  limit: whole({ min: 0, max: 1000 })
    .default(100)
    .describe('Maximum number of matches in the response; all are counted'),
  output: choice(['json', 'html']).default('json'),
})
  .refine(({ mode, pattern, mismatches }) => mode === 'align' || mismatches < definite(pattern), {
    path: ['mismatches'],
    error: 'must be below the number of letters of the pattern other than N; otherwise it matches everywhere',
  })
  .refine(({ mode, length, band }) => mode === 'search' || cellsOf(length, length, band) <= mostCells, {
    path: ['length'],
    error: `length × (2 × band + 1) must be at most ${mostCells}`,
  })

type Params = z.output<typeof params>

export default defineWorkload({
  name: 'dna',
  description:
    'Finds a pattern in a genome, or stretches that two genomes share; genomes are generated or uploaded',
  deterministic: true,
  params,
  features({ mode, length, pattern, mismatches, strands, band, output }, body) {
    if (mode === 'align') {
      const [bases, otherBases] = body.bytes > 0 ? likelyLengths(body) : [length, undefined]
      return { mode, bases, steps: cellsOf(bases, otherBases ?? bases, band) + perAligned * bases, output }
    }
    const bases = body.bytes > 0 ? body.bytes : length
    let comparisons = perPosition + likelyComparisons(pattern, mismatches, '+')
    if (strands === 'both') comparisons += perSecondStrand + likelyComparisons(pattern, mismatches, '-')
    return { mode, bases, steps: bases * comparisons, output }
  },

  async run(params, ctx) {
    const uploaded = await readGenomes(ctx.body)
    const most = params.mode === 'align' ? 2 : 1
    if (uploaded.length > most) {
      const allowed = most === 1 ? 'one, or two with mode align' : 'one or two'
      throw new Refusal(422, `the body holds ${uploaded.length} genomes; it must hold ${allowed}`)
    }
    const genome = uploaded[0] ?? generateGenome(params.seed, params.length)
    return params.mode === 'align'
      ? answerAlign(params, genome, uploaded[1], ctx.progress)
      : answerSearch(params, genome, ctx.progress)
  },
})

type Progress = (fraction: number) => void

function answerSearch(params: Params, genome: Genome, progress: Progress) {
  const { pattern, mismatches, strands, limit, output } = params
  const code = encodePattern(pattern)
  const found = search(genome.bases, code, { mismatches, bothStrands: strands === 'both', limit }, progress)
  if (output === 'json') return { genome: described(genome), pattern, mismatches, strands, ...found }
  const codes = { '+': code, '-': reverseComplement(code) }
  return page(genome, found, `${pattern} in ${genome.name}`, ({ position, strand, differences }: Match) => ({
    position,
    length: code.length,
    note: `strand ${strand}, ${counted(differences, 'difference')}`,
    differs: (at) => (genome.bases[position + at]! & codes[strand][at]!) === 0,
  }))
}

function answerAlign(params: Params, genome: Genome, second: Genome | undefined, progress: Progress) {
  const { seed, divergence, band, minLength, limit, output } = params
  const cells = cellsOf(genome.bases.length, second?.bases.length ?? genome.bases.length, band)
  if (cells > mostCells) {
    throw new Refusal(413, `bases × (2 × band + 1) is ${cells}; it must be at most ${mostCells}`)
  }
  const other = second ?? relativeOf(genome.bases, seed, divergence)
  const found = align(genome.bases, other.bases, { band, minLength, limit }, progress)
  if (output === 'json') {
    return { genome: described(genome), other: described(other), band, minLength, ...found }
  }
  return page(genome, found, `${genome.name}, shared with ${other.name}`, (segment: Segment) => ({
    position: segment.position,
    length: segment.length,
    note: `${segment.length} bases, like ${segment.otherPosition}, ${counted(segment.differences, 'difference')}`,
    differs: () => false,
  }))
}

function page<Kind>(
  genome: Genome,
  found: Findings<Kind>,
  title: string,
  highlight: (match: Kind) => Highlight,
) {
  const html = renderPage({
    title: title.length > 120 ? `${title.slice(0, 119)}…` : title,
    summary: `${counted(genome.bases.length, 'base')}; ${counted(found.total, 'match')}, ${found.matches.length} shown.`,
    genome,
    highlights: found.matches.map(highlight),
  })
  return reply(html, { contentType: 'text/html; charset=utf-8' })
}

function described({ name, bases }: Genome) {
  return { name, bases: bases.length }
}

function definite(pattern: string): number {
  return [...pattern].filter((letter) => letter !== 'N').length
}

function counted(count: number, noun: string): string {
  const plural = noun === 'match' ? 'matches' : `${noun}s`
  return `${count} ${count === 1 ? noun : plural}`
}
