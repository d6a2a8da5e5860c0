/** Factorize: the prime factors of n by trial division, whose cost n tells only in part. */

import { defineWorkload } from 'plimsoll/workload'
import { z } from 'zod'
import { outlookOf } from './factorize/outlook.ts'
import { expected, parameters } from './params/fields.ts'

const maxDigits = 40
const error = expected(
  `a whole number from 2, of at most ${maxDigits} digits; as text if it is above ${Number.MAX_SAFE_INTEGER}`,
)

/** Kept as text, so that it stays exact in JSON. */
const wholeNumber = z.preprocess(
  (n) => (Number.isSafeInteger(n) ? String(n) : n),
  z
    .string({ error })
    .regex(new RegExp(`^\\d{1,${maxDigits}}$`), { error, abort: true })
    .refine((n) => BigInt(n) >= 2n, { error })
    .overwrite((n) => n.replace(/^0+/, '')),
)

export default defineWorkload({
  name: 'factorize',
  description: 'The prime factors of a whole number, in ascending order, by trial division',
  deterministic: true,
  params: parameters({ n: wholeNumber.describe('The number to factorize') }),
  features: ({ n }) => ({ ...outlookOf(n) }),

  run({ n }, ctx) {
    const factors: string[] = []
    let rest = BigInt(n)
    let factor = 2n
    while (rest > 1n) {
      // A factor may divide the rest again, so the search goes on from where it was found.
      const start = factor < 7n ? 0n : ((factor - 7n) / 30n) * 30n
      factor =
        rest <= Number.MAX_SAFE_INTEGER
          ? BigInt(smallestFactor(Number(rest), Number(start), ctx.progress))
          : smallestFactorOfLarge(rest, start, ctx.progress)
      factors.push(String(factor))
      rest /= factor
    }
    return { n, factors }
  },
})

type Progress = (fraction: number) => void

/** What to add to a multiple of 30 to get the next numbers that 2, 3 and 5 do not divide. */
const spokes = [7, 11, 13, 17, 19, 23, 29, 31]
const largeSpokes = spokes.map(BigInt)

/** Turns of the wheel of 30 that take a few milliseconds. */
const turnsPerProgress = 2 ** 15
const largeTurnsPerProgress = 2 ** 13

/** A large number is cut into digits of so many bits: a remainder and a digit together fit into a Number. */
const digitBits = 24
const digitBase = 2 ** digitBits
/** Factors that digits can be used for. */
const mostByDigits = 2 ** (53 - digitBits)

/** The smallest prime factor of `n`, which has none from 7 to `start`, a multiple of 30. */
function smallestFactor(n: number, start: number, progress: Progress): number {
  for (const prime of [2, 3, 5]) if (n % prime === 0) return prime
  const root = Math.sqrt(n)
  let turn = 0
  for (let base = start; base <= root; base += 30) {
    if (turn++ % turnsPerProgress === 0) progress(base / root)
    for (const spoke of spokes) {
      const tried = base + spoke
      // Quicker than `%` by far. The second test is for quotients that were rounded to a whole number.
      const quotient = n / tried
      if (quotient === Math.floor(quotient) && quotient * tried === n) return tried
    }
  }
  return n
}

/** The same for numbers that a Number cannot hold. */
function smallestFactorOfLarge(n: bigint, start: bigint, progress: Progress): bigint {
  for (const prime of [2n, 3n, 5n]) if (n % prime === 0n) return prime
  const root = Math.sqrt(Number(n))
  const digits = digitsOf(n)
  let turn = 0
  let base = Number(start)
  for (; base <= root && base + 31 < mostByDigits; base += 30) {
    if (turn++ % largeTurnsPerProgress === 0) progress(base / root)
    for (let i = 0; i < spokes.length; i++) {
      const tried = base + spokes[i]!
      const inverse = 1 / tried
      let rest = 0
      // As at school, digit by digit.
      for (let digit = 0; digit < digits.length; digit++) {
        const value = rest * digitBase + digits[digit]!
        rest = value - Math.floor(value * inverse) * tried
        // Rounding may have taken the quotient to a neighbouring whole number.
        if (rest < 0) rest += tried
        else if (rest >= tried) rest -= tried
      }
      if (rest === 0) return BigInt(tried)
    }
  }
  return base > root ? n : smallestHugeFactor(n, BigInt(base), progress)
}

/** From the highest on. */
function digitsOf(n: bigint): Float64Array {
  const digits: number[] = []
  for (let rest = n; rest > 0n; rest >>= BigInt(digitBits)) digits.unshift(Number(rest % BigInt(digitBase)))
  return Float64Array.from(digits)
}

function smallestHugeFactor(n: bigint, start: bigint, progress: Progress): bigint {
  const root = Math.sqrt(Number(n))
  let turn = 0
  for (let base = start; base * base <= n; base += 30n) {
    if (turn++ % largeTurnsPerProgress === 0) progress(Math.min(1, Number(base) / root))
    for (const spoke of largeSpokes) {
      const tried = base + spoke
      if (n % tried === 0n) return tried
    }
  }
  return n
}
