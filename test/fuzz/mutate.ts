/** Mutations of inputs: each applies a few small changes to an input of the corpus. */

import type { Random } from '../../src/lib/random.ts'
import { bytesOf, fewOf, oddNumbers, pick } from './draw.ts'

const oddBytes = [
  0x00, 0x01, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3a, 0x5b, 0x5c, 0x7b, 0x7f, 0x80, 0xc0, 0xfe, 0xff,
]
const oddIntegers = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff]

/** Inputs at the end of the pool that are preferred. */
const latest = 8

interface Material {
  random: Random
  /** Another input, to splice from. */
  other: Buffer
  words: readonly string[]
  maxBytes: number
}

type Change = (input: Buffer, material: Material) => Buffer

/** A place in the input, often near its beginning: heads decide how the rest is read. */
function place(random: Random, length: number): number {
  return random.below(2) === 0 ? random.below(length) : fewOf(random, length)
}

/** A part of the input: where it begins, and a length that is mostly short. */
function part(random: Random, { length }: Buffer): [from: number, to: number] {
  const from = place(random, length + 1)
  return [from, Math.min(length, from + 1 + fewOf(random, length))]
}

function replaced(input: Buffer, from: number, to: number, by: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, from), by, input.subarray(to)])
}

const changes: readonly Change[] = [
  function flipBit(input, { random }) {
    if (input.length > 0) input[place(random, input.length)]! ^= 1 << random.below(8)
    return input
  },
  function setByte(input, { random }) {
    if (input.length > 0)
      input[place(random, input.length)] = random.below(2) === 0 ? random.below(256) : pick(random, oddBytes)
    return input
  },
  function setInteger(input, { random }) {
    const bytes = pick(random, [2, 4])
    if (input.length < bytes) return input
    const at = random.below(input.length - bytes + 1)
    const value = pick(random, oddIntegers) % 2 ** (8 * bytes)
    if (random.below(2) === 0) input.writeUIntBE(value, at, bytes)
    else input.writeUIntLE(value, at, bytes)
    return input
  },
  function setNumber(input, { random }) {
    const found = [...input.toString('latin1').matchAll(/\d+/g)]
    if (found.length === 0) return input
    const { 0: digits, index } = pick(random, found)
    return replaced(input, index, index + digits.length, Buffer.from(pick(random, oddNumbers)))
  },
  function insertBytes(input, { random }) {
    const at = place(random, input.length + 1)
    return replaced(input, at, at, bytesOf(random, 1 + fewOf(random, 32)))
  },
  function insertWord(input, { random, words }) {
    if (words.length === 0) return input
    const [from, to] = part(random, input)
    return replaced(
      input,
      from,
      random.below(2) === 0 ? from : to,
      Buffer.from(pick(random, words), 'latin1'),
    )
  },
  function remove(input, { random }) {
    return replaced(input, ...part(random, input), Buffer.alloc(0))
  },
  function truncate(input, { random }) {
    return input.subarray(0, random.below(input.length + 1))
  },
  function repeat(input, { random, maxBytes }) {
    const [from, to] = part(random, input)
    const piece = input.subarray(from, to)
    const times = Math.min(1 + fewOf(random, 2000), Math.floor(maxBytes / Math.max(1, piece.length)))
    return replaced(input, from, from, Buffer.concat(Array<Buffer>(times).fill(piece)))
  },
  function move(input, { random }) {
    const piece = input.subarray(...part(random, input))
    const at = random.below(input.length + 1)
    return replaced(input, at, at, piece)
  },
  function splice(input, { random, other }) {
    return replaced(input, ...part(random, input), other.subarray(...part(random, other)))
  },
]

export function mutated(
  random: Random,
  pool: readonly Buffer[],
  words: readonly string[],
  maxBytes: number,
): Buffer {
  // The latest inputs have reached new code: half of the time they are mutated further.
  let input = Buffer.from(pick(random, random.below(2) === 0 ? pool : pool.slice(-latest)))
  const other = pick(random, pool)
  for (let left = 1 + fewOf(random, 8); left > 0; left--)
    input = Buffer.from(
      pick(random, changes)(input, { random, other, words, maxBytes }).subarray(0, maxBytes),
    )
  return input
}
