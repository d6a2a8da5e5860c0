/** Draws from seeded randomness, for generators and mutations. */

import type { Random } from '../../src/lib/random.ts'

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)]!
}

/** True with this probability. */
export function chance(random: Random, probability: number): boolean {
  return random.next() < probability
}

/** Mostly few, sometimes many. */
export function fewOf(random: Random, most: number): number {
  return Math.floor(most * random.next() ** 4)
}

export function listOf<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: fewOf(random, most + 1) }, make)
}

export function bytesOf(random: Random, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count)
  for (let i = 0; i < count; i++) bytes[i] = random.below(256)
  return bytes
}

const letters = [
  'a',
  'B',
  '0',
  '9',
  '_',
  '-',
  '.',
  '/',
  '%',
  '\\',
  '"',
  "'",
  ' ',
  '\0',
  '\x7f',
  'é',
  '☹',
  '𝒳',
  '\ud800',
]

export function textOf(random: Random, most = 12): string {
  return listOf(random, most, () => pick(random, letters)).join('')
}

/** Numbers as text: valid ones, and ones that parsers disagree about. */
export const oddNumbers = [
  ...['0', '1', '-1', '7', '255', '256', '65535', '65536', '2147483647', '2147483648', '4294967295'],
  ...[
    '9007199254740993',
    '1e308',
    '1e309',
    '-0',
    '00',
    '+1',
    '0x10',
    '1_000',
    '.5',
    '5.',
    '1e',
    'NaN',
    'Infinity',
  ],
  ...['', ' ', '1 ', '١'],
] as const

const names = [
  'a',
  'n',
  'id',
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  'é',
  '\0',
  '0',
  'n n',
]

/** JSON text, almost always valid. */
export function jsonText(random: Random, depth = 4): string {
  const kind = random.below(depth > 0 ? 9 : 6)
  if (kind === 0) return pick(random, ['null', 'true', 'false'])
  if (kind < 3) return pick(random, [...oddNumbers.slice(0, 15), '1', '2.5'])
  if (kind < 6) return JSON.stringify(textOf(random))
  const parts = listOf(random, 6, () => jsonText(random, depth - 1))
  if (kind === 6) return `[${parts.join(chance(random, 0.02) ? ',,' : ',')}]`
  return `{${parts.map((part) => `${JSON.stringify(pick(random, names))}:${part}`).join(',')}}`
}
