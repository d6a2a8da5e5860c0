/** Requests of foxes-rabbits: mostly small worlds, large ones for fewer generations, mostly with a custom seed. */
import type { Random } from '../../../src/lib/random.ts'
import { anySeed, chance, type Request, weighted, wholeSpread } from '../stream.ts'

const mostCellTurns = 9_000_000

export function sample(random: Random): Request {
  const params: Record<string, unknown> = {}
  const world = Number(weighted(random, { 1: 3, 2: 5, 3: 2, 4: 1 }))
  if (world !== 2 || chance(random, 0.3)) params.world = world
  if (chance(random, 0.6)) params.scenario = Number(weighted(random, { 1: 3, 2: 4, 3: 3 }))
  // Users who ask for a large world limit its generations.
  if (world > 2 || chance(random, 0.85)) {
    const cells = 64 * 48 * 4 ** (world - 1)
    params.generations = wholeSpread(random, 5, Math.min(10_000, Math.floor(mostCellTurns / cells)))
  }
  if (chance(random, 0.8)) params.seed = anySeed(random)
  if (chance(random, 0.35)) params.output = 'png'
  return { params }
}

export function vary({ params }: Request, random: Random): Request {
  return { params: { ...params, seed: anySeed(random) } }
}
