/** Requests of factorize: any numbers as people type them, products of two primes, and primes. */
import type { Random } from '../../../src/random.ts'
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

/** Another number with the same small factors, and as large and prime or not what is left. */
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
    const { rest: kind, digits, divisions } = outlookOf(String(tried))
    const isAlike = Math.abs(divisions / wanted.divisions - 1) < 0.03
    if (isAlike && kind === wanted.rest && digits === wanted.digits) return { params: { n: String(tried) } }
  }
}

/** A whole number of about 10 ** digits. */
function numberOf(digits: number, random: Random): bigint {
  // The last digits apart: a Number of 17 digits has none of its own.
  return BigInt(Math.floor(10 ** (digits - 2))) * 100n + BigInt(random.below(100))
}

function nextPrime(from: bigint): bigint {
  let n = from < 3n ? 3n : from | 1n
  while (!isPrime(n)) n += 2n
  return n
}

/** Miller-Rabin; certain for all below 3.4e14, and nearly so above. */
function isPrime(n: bigint): boolean {
  let odd = n - 1n
  let twos = 0
  for (; (odd & 1n) === 0n; odd >>= 1n) twos++
  return [2n, 3n, 5n, 7n, 11n, 13n, 17n].every((base) => {
    if (n % base === 0n) return n === base
    let power = powerOf(base, odd, n)
    if (power === 1n || power === n - 1n) return true
    for (let i = 1; i < twos; i++) {
      power = (power * power) % n
      if (power === n - 1n) return true
    }
    return false
  })
}

function powerOf(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}
