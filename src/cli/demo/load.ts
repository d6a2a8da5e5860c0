/** The demo's requests: many small ones, some of a second or more, drawn from a seed. */

import { type Random, stream } from '../../lib/random.ts'
import { checkPicture } from './checks.ts'
import { browse, type DemoRequest, type Draw, factorizeProduct, purchase } from './kinds.ts'

/** About half the capacity of two cores, so that a busy machine keeps up. */
const perSecond = 16

/** Requests in sending order. Deterministic for a seed. */
export function drawLoad(seed: number, seconds: number): DemoRequest[] {
  const random = stream(seed, 'demo')
  const count = Math.max(10, Math.round(perSecond * seconds))
  const times = Array.from({ length: count }, () => random.next() * seconds * 1000).sort((a, b) => a - b)
  // Exact shares, so that even a short demo has requests of each kind.
  const kinds = times.map((_, i) => turns[i % turns.length]!)
  shuffle(kinds, random)
  return times.map((atMs, i) => ({ atMs, ...kinds[i]!(random, i, 0) }))
}

/** A constant request rate for some seconds, with sizes between two bounds. */
export interface Phase {
  seconds: number
  perSecond: number
  ms: readonly [least: number, most: number]
}

/** One phase after another, with the draws in rotation. */
export function drawPhases(seed: number, phases: readonly Phase[], draws: readonly Draw[]): DemoRequest[] {
  const random = stream(seed, 'demo')
  const requests: DemoRequest[] = []
  let from = 0
  for (const { seconds, perSecond: rate, ms } of phases) {
    const count = Math.round(rate * seconds)
    const times = Array.from({ length: count }, () => from + random.next() * seconds * 1000)
    for (const atMs of times.sort((a, b) => a - b)) {
      const i = requests.length
      const size = ms[0] * (ms[1] / ms[0]) ** random.next()
      requests.push({ atMs, ...draws[i % draws.length]!(random, i, size) })
    }
    from += seconds * 1000
  }
  return requests
}

const slowFactorize: Draw = (random) => factorizeProduct(random, 1e9, 1.4e9)
const factorize: Draw = (random) => {
  const size = Math.round(10 ** (2 + 5 * random.next()))
  return factorizeProduct(random, size, 2 * size)
}

const julia: Draw = (random) => {
  const width = 32 + random.below(400)
  const height = 32 + random.below(300)
  const params = { width, height, iterations: 50 + random.below(300), palette: 'ice' }
  return { kind: 'julia', workload: 'julia', params, check: (body) => checkPicture(body, width, height) }
}

/** Requests of each kind out of 32. */
const turns: readonly Draw[] = [
  slowFactorize,
  ...Array<Draw>(10).fill(factorize),
  ...Array<Draw>(8).fill(julia),
  ...Array<Draw>(7).fill(browse),
  ...Array<Draw>(6).fill(purchase),
]

function shuffle(list: unknown[], random: Random): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[list[i], list[j]] = [list[j], list[i]]
  }
}
