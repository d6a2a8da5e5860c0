/** The demo's requests: many small ones, some of a second or more, drawn from a seed. */

import { type Random, stream } from '../../random.ts'
import { checkBrowse, checkFactors, checkPicture, checkPurchase } from './checks.ts'
import { primeFrom } from './primes.ts'

export type Kind = 'factorize' | 'julia' | 'browse' | 'purchase'

export interface DemoRequest {
  kind: Kind
  /** When it is sent, from the start. */
  atMs: number
  workload: string
  params: Record<string, string | number>
  /** What is wrong with a successful answer, if anything. */
  check(body: Buffer): string | undefined
}

/** About half of what two cores can do, so that a machine which has other things to do keeps up. */
const perSecond = 16

/** The requests in the order in which they are sent; the same for the same seed. */
export function drawLoad(seed: number, seconds: number): DemoRequest[] {
  const random = stream(seed, 'demo')
  const count = Math.max(10, Math.round(perSecond * seconds))
  const times = Array.from({ length: count }, () => random.next() * seconds * 1000).sort((a, b) => a - b)
  // The shares are exact, so that also a short demo has some of each.
  const kinds = times.map((_, i) => turns[i % turns.length]!)
  shuffle(kinds, random)
  return times.map((atMs, i) => ({ atMs, ...kinds[i]!(random, i) }))
}

type Draw = (random: Random, i: number) => Omit<DemoRequest, 'atMs'>

const slowFactorize: Draw = (random) => factorizeProduct(random, 1e9, 1.4e9)
const factorize: Draw = (random) => {
  const size = Math.round(10 ** (2 + 5 * random.next()))
  return factorizeProduct(random, size, 2 * size)
}

/** The product of two primes of this size: the worst case of trial division. */
function factorizeProduct(random: Random, from: number, to: number): Omit<DemoRequest, 'atMs'> {
  const prime = () => primeFrom(from + random.below(to - from))
  const n = String(prime() * prime())
  return { kind: 'factorize', workload: 'factorize', params: { n }, check: (body) => checkFactors(body, n) }
}

const julia: Draw = (random) => {
  const width = 32 + random.below(400)
  const height = 32 + random.below(300)
  const params = { width, height, iterations: 50 + random.below(300), palette: 'ice' }
  return { kind: 'julia', workload: 'julia', params, check: (body) => checkPicture(body, width, height) }
}

const browse: Draw = (random) => {
  const categories = ['kitchen', 'garden', 'office', 'sport', 'music']
  const category = categories[random.below(categories.length)]!
  const pageSize = 5 + random.below(40)
  const minPriceCents = random.below(10_000)
  const params = { action: 'browse', category, pageSize, minPriceCents, sort: 'price' }
  const asked = { category, pageSize, minPriceCents }
  return { kind: 'browse', workload: 'shop', params, check: (body) => checkBrowse(body, asked) }
}

/** Each from a customer of its own, by whom its order is found again, and of a product of which there is enough. */
const purchase: Draw = (_random, i) => {
  const productId = 1 + ((i * 7) % 5000)
  const customer = `customer ${i}`
  const params = { action: 'purchase', productId, quantity: 1, customer }
  return { kind: 'purchase', workload: 'shop', params, check: (body) => checkPurchase(body, params) }
}

/** Of 32 requests, so many of each. */
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
