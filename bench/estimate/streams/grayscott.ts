/** Requests of grayscott: presets by popularity, some with custom rates, from thumbnails to large squares. */
import type { Random } from '../../../src/lib/random.ts'
import { anySeed, chance, oneOf, type Request, spread, weighted, wholeSpread } from '../stream.ts'

const presets = { coral: 8, maze: 6, mitosis: 5, spots: 4, worms: 3, holes: 2, chaos: 2, bubbles: 1 }
const mostCellSteps = 14_000_000

export function sample(random: Random): Request {
  const params: Record<string, unknown> = {}
  const size = chance(random, 0.5) ? oneOf(random, [32, 64, 100, 128, 256]) : wholeSpread(random, 16, 512)
  if (size !== 128) params.size = size
  params.iterations = iterationsOf(random, size)
  if (chance(random, 0.7)) params.preset = weighted(random, presets)
  if (chance(random, 0.3)) {
    params.feed = Math.round(spread(random, 0.008, 0.09) * 10_000) / 10_000
    params.kill = Math.round((0.045 + 0.03 * random.next()) * 10_000) / 10_000
  }
  if (chance(random, 0.6)) params.seed = anySeed(random)
  if (chance(random, 0.4)) params.palette = weighted(random, { lagoon: 4, orchid: 3, moss: 2, grey: 1 })
  return { params }
}

export function vary({ params }: Request, random: Random): Request {
  return { params: { ...params, seed: anySeed(random) } }
}

function iterationsOf(random: Random, size: number): number {
  const most = Math.min(20_000, Math.floor(mostCellSteps / size ** 2))
  const usual = [100, 500, 1000, 2000, 5000].filter((iterations) => iterations <= most)
  if (usual.length > 0 && chance(random, 0.4)) return oneOf(random, usual)
  return wholeSpread(random, 5, most)
}
