/** Requests to each bundled workload, sized in milliseconds, with a check of the answer. */

import type { Random } from '../../lib/random.ts'
import {
  checkBrowse,
  checkClimb,
  checkFactors,
  checkFoxes,
  checkImage,
  checkMatches,
  checkPicture,
  checkPurchase,
  checkWar,
} from './checks.ts'
import { gradientBmp } from './picture.ts'
import { primeFrom } from './primes.ts'

export interface DemoRequest {
  kind: string
  /** When it is sent, relative to the start. */
  atMs: number
  workload: string
  params: Record<string, string | number>
  /** A binary body; parameters are then in the query. */
  body?: Uint8Array
  /** Says what is wrong with a successful answer. Undefined: nothing. */
  check(body: Buffer): string | undefined
}

/** The i-th request, of about `ms` milliseconds on one core. */
export type Draw = (random: Random, i: number, ms: number) => Omit<DemoRequest, 'atMs'>

/** The product of two primes is the worst case of trial division. Above 2 ** 53, divisions are several times slower. */
export const factorize: Draw = (random, _i, ms) => {
  const factor = Math.max(11, ms < 100 ? ms * 900_000 : Math.max(95_000_000, ms * 130_000))
  return factorizeProduct(random, Math.round(factor), Math.round(factor * 1.1) + 10)
}

export function factorizeProduct(random: Random, from: number, to: number): Omit<DemoRequest, 'atMs'> {
  const prime = () => primeFrom(from + random.below(to - from))
  const n = String(prime() * prime())
  return { kind: 'factorize', workload: 'factorize', params: { n }, check: (body) => checkFactors(body, n) }
}

/** A connected set, so that most points take all iterations. */
export const julia: Draw = (random, _i, ms) => {
  const iterations = 200 + random.below(800)
  const side = within(20, 1200, Math.sqrt((ms * 170_000) / (0.45 * iterations)))
  const params = { width: side, height: side, cx: -0.123, cy: 0.745, iterations, palette: 'ice' }
  return { kind: 'julia', workload: 'julia', params, check: (body) => checkPicture(body, side, side) }
}

export const dna: Draw = (random, _i, ms) => {
  const pattern = Array.from({ length: 8 + random.below(24) }, () => 'ACGT'[random.below(4)]).join('')
  const mismatches = random.below(2)
  const length = within(100, 5_000_000, ms * 40_000)
  const params = { pattern, mismatches, length, seed: random.below(1000) }
  return { kind: 'dna', workload: 'dna', params, check: (body) => checkMatches(body, params) }
}

export const grayscott: Draw = (random, _i, ms) => {
  const size = 64 + random.below(128)
  const iterations = within(1, 50_000, (ms * 120_000) / size ** 2)
  const params = { size, iterations, preset: 'coral', seed: random.below(1000) }
  return { kind: 'grayscott', workload: 'grayscott', params, check: (body) => checkPicture(body, size, size) }
}

export const hillclimb: Draw = (random, _i, ms) => {
  const side = within(24, 1400, Math.sqrt(ms * 5000))
  const strategy = ['BFS', 'DFS', 'ASTAR'][random.below(3)]!
  const params = { map: random.below(20), width: side, height: side, strategy, output: 'json' }
  return { kind: `hillclimb ${strategy}`, workload: 'hillclimb', params, check: checkClimb }
}

export const foxes: Draw = (random, _i, ms) => {
  const world = 1 + random.below(2)
  const generations = within(1, 10_000, (ms * 100_000) / (64 * 48 * 4 ** (world - 1)) - 15)
  const params = { world, scenario: 1 + random.below(3), generations, seed: random.below(1000) }
  return {
    kind: 'foxes-rabbits',
    workload: 'foxes-rabbits',
    params,
    check: (body) => checkFoxes(body, params),
  }
}

export const war: Draw = (random, _i, ms) => {
  const army1 = 50 + random.below(400)
  const army2 = Math.round(army1 * (0.8 + 0.4 * random.next()))
  const rounds = within(5, 5000, (ms * 5000) / (army1 + army2))
  const params = { army1, army2, rounds, seed: random.below(1000) }
  return { kind: 'insect-war', workload: 'insect-war', params, check: (body) => checkWar(body, params) }
}

export const compress: Draw = (random, i, ms) => {
  const side = within(32, 1200, Math.sqrt(ms * 3000))
  const format = ['jpeg', 'png', 'bmp'][random.below(3)]!
  const params = { format, quality: (1 + random.below(9)) / 10 }
  const check = (body: Buffer) => checkImage(body, format, side)
  return { kind: 'compress', workload: 'compress', params, body: gradientBmp(side, i), check }
}

export const browse: Draw = (random) => {
  const categories = ['kitchen', 'garden', 'office', 'sport', 'music']
  const category = categories[random.below(categories.length)]!
  const pageSize = 5 + random.below(40)
  const minPriceCents = random.below(10_000)
  const params = { action: 'browse', category, pageSize, minPriceCents, sort: 'price' }
  const asked = { category, pageSize, minPriceCents }
  return { kind: 'browse', workload: 'shop', params, check: (body) => checkBrowse(body, asked) }
}

/** Each order has a customer of its own, which identifies it, and a product that is in stock. */
export const purchase: Draw = (_random, i) => {
  const productId = 1 + ((i * 7) % 5000)
  const customer = `customer ${i}`
  const params = { action: 'purchase', productId, quantity: 1, customer }
  return { kind: 'purchase', workload: 'shop', params, check: (body) => checkPurchase(body, params) }
}

function within(least: number, most: number, value: number): number {
  return Math.round(Math.min(most, Math.max(least, value)))
}
