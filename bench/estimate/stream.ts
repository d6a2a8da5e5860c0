/** Realistic streams of requests, one file per workload, and helpers to draw them. */
import type { Random } from '../../src/lib/random.ts'

export interface Request {
  /** As a client sends them; parameters with defaults may be missing. */
  params: Record<string, unknown>
  body?: Uint8Array
}

/** The exports of each file in streams/. */
export interface Stream {
  sample(random: Random): Request
  /** Another request with equal features, whose cost may differ. */
  vary?(request: Request, random: Random): Request
}

export const streamNames = [
  'factorize',
  'julia',
  'dna',
  'grayscott',
  'hillclimb',
  'foxes-rabbits',
  'insect-war',
  'compress',
  'shop',
] as const

export type StreamName = (typeof streamNames)[number]

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability
}

/** Log-uniform. */
export function spread(random: Random, min: number, max: number): number {
  return min * (max / min) ** random.next()
}

/** Log-uniform integer. */
export function wholeSpread(random: Random, min: number, max: number): number {
  return Math.floor(Math.min(max, spread(random, min, max + 1)))
}

/** A random key, by weight. */
export function weighted<Key extends string>(random: Random, weights: Readonly<Record<Key, number>>): Key {
  const keys = Object.keys(weights) as Key[]
  let left = random.next() * keys.reduce((sum, key) => sum + weights[key], 0)
  for (const key of keys) {
    left -= weights[key]
    if (left < 0) return key
  }
  return keys.at(-1)!
}

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)]!
}

/** A random value for a seed parameter. */
export function anySeed(random: Random): number {
  return random.below(2 ** 32)
}
