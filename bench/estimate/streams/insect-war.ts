/** Requests of insect-war: mostly even armies, some uneven, skirmishes and long wars. */
import type { Random } from '../../../src/lib/random.ts'
import { anySeed, chance, type Request, spread, wholeSpread } from '../stream.ts'

const mostInsectRounds = 1_000_000

export function sample(random: Random): Request {
  const params: Record<string, unknown> = {}
  const army1 = chance(random, 0.15) ? 500 : wholeSpread(random, 10, 4000)
  const ratio = chance(random, 0.6) ? spread(random, 0.8, 1.25) : spread(random, 0.1, 10)
  const army2 = chance(random, 0.2) ? army1 : Math.max(1, Math.min(6000, Math.round(army1 * ratio)))
  if (army1 !== 500) params.army1 = army1
  if (army2 !== 500) params.army2 = army2
  if (chance(random, 0.85)) {
    const most = Math.max(20, Math.min(5000, mostInsectRounds / (army1 + army2)))
    params.rounds = wholeSpread(random, 5, most)
  }
  if (chance(random, 0.8)) params.seed = anySeed(random)
  if (chance(random, 0.35)) params.output = 'png'
  return { params }
}

export function vary({ params }: Request, random: Random): Request {
  return { params: { ...params, seed: anySeed(random) } }
}
