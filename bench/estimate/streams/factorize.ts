/** Requests of factorize: arbitrary numbers, products of two primes, and primes. */
import { isPrime } from '../../../src/cli/demo/primes.ts'
import type { Random } from '../../../src/lib/random.ts'
import { outlookOf } from '../../../workloads/factorize/outlook.ts'
import { type Request, weighted } from '../stream.ts'

export function sample(random: Random): Request {
  const kind = weighted(random, { any: 4, semiprime: 4, prime: 2 })
  if (kind === 'any') return { params: { n: String(numberOf(4 + 13 * random.next(), random)) } }
  if (kind === 'prime') return { params: { n: String(nextPrime(numberOf(4 + 12 * random.next(), random))) } }
  const digits = 4 + 13 * random.next()
  const smaller = digits * (0.25 + 0.25 * random.next())
  const [p, q] = [smaller, digits - smaller].map((part) => nextPrime(numberOf(part, random)))
  return { params: { n: String(p! * q!) } }
}

/** Another number with the same small factors and a rest of equal size and primality. */
export function vary({ params }: Request, random: Random): Request {
  const n = BigInt(params.n as string)
  const wanted = outlookOf(String(n))
  if (wanted.rest === 'known') return { params }
  let rest = n
  for (let factor = 2n; factor < 1000n; factor++) while (rest % factor === 0n) rest /= factor
  const small = n / rest
  for (;;) {
    const scale = BigInt(Math.round(1e6 * (0.98 + 0.04 * random.next())))
    const tried = small * (((rest * scale) / 1_000_000n) | 1n)
    const { rest: kind, divisions } = outlookOf(String(tried))
    const isAlike = Math.abs(divisions / wanted.divisions - 1) < 0.03
    if (isAlike && kind === wanted.rest) return { params: { n: String(tried) } }
  }
}

/** An integer of about 10 ** digits. */
function numberOf(digits: number, random: Random): bigint {
  // The last digits are drawn separately, because a Number has fewer than 17 exact digits.
  return BigInt(Math.floor(10 ** (digits - 2))) * 100n + BigInt(random.below(100))
}

function nextPrime(from: bigint): bigint {
  let n = from < 3n ? 3n : from | 1n
  while (!isPrime(n)) n += 2n
  return n
}
