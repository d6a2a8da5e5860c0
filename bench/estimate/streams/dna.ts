/** Requests of dna: short motifs and primers, alignments in narrow and wide bands, uploaded genomes. */
import type { Random } from '../../../src/lib/random.ts'
import { anySeed, chance, oneOf, type Request, spread, wholeSpread } from '../stream.ts'

const motifs = ['TATAAA', 'GAATTC', 'GGATCC', 'CCANNNNNNTGG', 'TTGACANNNNNNNNNNNNNNNNNTATAAT', 'CACGTG']
const mostCells = 30_000_000
/** The maximum number of bases that a search compares. */
const mostCompared = 150_000_000

export function sample(random: Random): Request {
  return chance(random, 0.4) ? align(random) : search(random)
}

function search(random: Random): Request {
  const params: Record<string, unknown> = {}
  let [letters, mismatches] = [7, 1]
  if (chance(random, 0.85)) {
    const pattern = chance(random, 0.3)
      ? oneOf(random, motifs)
      : randomBases(wholeSpread(random, 6, 400), random)
    letters = pattern.replaceAll('N', '').length
    params.pattern = pattern
    if (chance(random, 0.7)) {
      mismatches = Math.floor(letters * 0.3 * random.next() ** 2)
      params.mismatches = mismatches
    }
  }
  if (chance(random, 0.3)) params.strands = 'forward'
  if (chance(random, 0.25)) params.output = 'html'
  const compared = Math.min(letters, 8 + mismatches * 1.5)
  const most = Math.min(3_000_000, mostCompared / (2 * compared))
  if (chance(random, 0.25))
    return { params, body: upload([wholeSpread(random, 2000, Math.min(500_000, most))], random) }
  if (chance(random, 0.85)) params.length = wholeSpread(random, 2000, most)
  if (chance(random, 0.6)) params.seed = anySeed(random)
  return { params }
}

function align(random: Random): Request {
  const params: Record<string, unknown> = { mode: 'align' }
  let band = 32
  if (chance(random, 0.6)) {
    band = wholeSpread(random, 4, 500)
    params.band = band
  }
  if (chance(random, 0.3)) params.minLength = wholeSpread(random, 15, 200)
  if (chance(random, 0.25)) params.output = 'html'
  const length = wholeSpread(random, 300, Math.min(200_000, mostCells / (2 * band + 1)))
  if (chance(random, 0.35)) {
    const lengths = chance(random, 0.5) ? [length] : [length, Math.round(length * spread(random, 0.8, 1.25))]
    return { params, body: upload(lengths, random) }
  }
  params.length = length
  if (chance(random, 0.5)) params.divergence = oneOf(random, [0.5, 1, 5, 10, 20])
  if (chance(random, 0.6)) params.seed = anySeed(random)
  return { params }
}

/** Another genome of the same length. */
export function vary({ params, body }: Request, random: Random): Request {
  if (!body) return { params: { ...params, seed: anySeed(random) } }
  const text = Buffer.from(body).toString('latin1')
  const other = text.replace(/^[ACGT]+$/gm, (line) => randomBases(line.length, random))
  return { params, body: Buffer.from(other) }
}

function upload(lengths: number[], random: Random): Uint8Array {
  const records = lengths.map((length, record) => {
    const lines = [`>sample ${record + 1} of ${lengths.length}`]
    for (let at = 0; at < length; at += 60) lines.push(randomBases(Math.min(60, length - at), random))
    return lines.join('\n')
  })
  return Buffer.from(`${records.join('\n')}\n`)
}

function randomBases(length: number, random: Random): string {
  let text = ''
  for (let at = 0; at < length; at++) text += 'ACGT'[random.below(4)]
  return text
}
