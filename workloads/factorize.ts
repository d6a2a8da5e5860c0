/** Factorize: the prime factors of n by trial division. The cost is only partly predictable from n. */

import { defineWorkload } from 'plimsoll/workload'
import { z } from 'zod'
import { outlookOf } from './factorize/outlook.ts'
import { expected, parameters } from './params/fields.ts'

const maxDigits = 40
const error = expected(
  `a whole number from 2, of at most ${maxDigits} digits; as text if it is above ${Number.MAX_SAFE_INTEGER}`,
)

/** Kept as a string to stay exact in JSON. */
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
      // A factor may divide the rest again, so the search resumes at the last factor.
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

/** Offsets from a multiple of 30 to the next numbers not divisible by 2, 3 or 5. */
const spokes = [7, 11, 13, 17, 19, 23, 29, 31]
const largeSpokes = spokes.map(BigInt)

/** Turns of the wheel between progress reports: a few milliseconds. */
const turnsPerProgress = 2 ** 15
const largeTurnsPerProgress = 2 ** 13

/** Large numbers are split into 24-bit digits, so that a remainder and a digit together fit into a Number. */
const digitBits = 24
const digitBase = 2 ** digitBits
/** Limit of factors for which division by digits is exact. */
const mostByDigits = 2 ** (53 - digitBits)

/** The smallest prime factor of `n`. `start` is a multiple of 30, and `n` has no factor from 7 to `start`. */
function smallestFactor(n: number, start: number, progress: Progress): number {
  for (const prime of [2, 3, 5]) if (n % prime === 0) return prime
  const root = Math.sqrt(n)
  let turn = 0
  for (let base = start; base <= root; base += 30) {
    if (turn++ % turnsPerProgress === 0) progress(base / root)
    for (const spoke of spokes) {
      const tried = base + spoke
      // Much faster than `%`. The second test excludes quotients that were rounded to an integer.
      const quotient = n / tried
      if (quotient === Math.floor(quotient) && quotient * tried === n) return tried
    }
  }
  return n
}

/** The same for numbers beyond the range of Number. */
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
      // Long division, digit by digit.
      for (let digit = 0; digit < digits.length; digit++) {
        const value = rest * digitBase + digits[digit]!
        rest = value - Math.floor(value * inverse) * tried
        // The quotient may have been rounded to a neighbouring integer.
        if (rest < 0) rest += tried
        else if (rest >= tried) rest -= tried
      }
      if (rest === 0) return BigInt(tried)
    }
  }
  return base > root ? n : smallestHugeFactor(n, BigInt(base), progress)
}

/** Most significant first. */
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
