/** Predicts the cost in a few microseconds: removes small factors and tests whether the rest is prime. */

export interface Outlook {
  /**
   * `known`: nothing is left to find. `prime`: all divisions are needed, for a prime or the product of two that are close to
   * each other. For a composite or untested rest only the upper bound of the cost is known.
   */
  rest: 'known' | 'prime' | 'composite' | 'untested'
  /** Upper bound of the trial divisions, in divisions of a Number: those of larger rests are done digit by digit. */
  divisions: number
}

const digitBits = 24
/** Cost of a division for each digit of the rest. */
const perDigit = 1.8
/** Share of numbers that are not divisible by 2, 3 or 5. */
const triedShare = 8 / 30
/** Largest small prime that is tried. */
const limit = 600
/** Longer rests are not tested, to bound the time. */
const mostTestedBits = 64

const primes = Float64Array.from(primesTo(limit))

/** `n` is an integer of at least 2, as a string. */
export function outlookOf(n: string): Outlook {
  let large = n.length > 15 ? BigInt(n) : 0n
  let largest = 2
  if (large > Number.MAX_SAFE_INTEGER) {
    for (const prime of smallFactors(large)) {
      large /= prime
      largest = Number(prime)
    }
  }
  if (large > Number.MAX_SAFE_INTEGER) {
    const bits = large.toString(16).length * 4
    const each = triedShare * perDigit * Math.ceil(bits / digitBits)
    const divisions = Math.sqrt(Number(large)) * each
    if (bits > mostTestedBits) return { rest: 'untested', divisions }
    return isLikelyPrime(large) ? { rest: 'prime', divisions } : outlookOfComposite(large, each)
  }
  return outlookOfNumber(large > 0n ? Number(large) : Number(n), largest)
}

function outlookOfNumber(n: number, known: number): Outlook {
  let rest = n
  let largest = known
  for (let i = 0; i < primes.length; i++) {
    const prime = primes[i]!
    if (prime * prime > rest) break
    for (let quotient = rest / prime; quotient === Math.floor(quotient); quotient = rest / prime) {
      rest = quotient
      largest = prime
    }
  }
  const root = Math.sqrt(rest)
  if (root <= limit) return { rest: 'known', divisions: Math.max(largest, root) * triedShare }
  const isPrime = rest < mostByFloats ? isLikelyPrimeNumber(rest) : isLikelyPrime(BigInt(rest))
  if (isPrime) return { rest: 'prime', divisions: root * triedShare }
  return outlookOfComposite(BigInt(rest), triedShare)
}

/** Steps of the search for two close factors. */
const closeSteps = 32

/**
 * `n` has no small factors and at most `mostTestedBits`. Fermat's method finds factors that are close to each other, because
 * a² - s² = (a - s)(a + s). `each`: divisions for each number up to the smallest factor.
 */
function outlookOfComposite(n: bigint, each: number): Outlook {
  const root = Math.sqrt(Number(n))
  let a = Math.ceil(root)
  let square = Number(BigInt(a) * BigInt(a) - n)
  for (let step = 0; step < closeSteps; step++) {
    const s = Math.round(Math.sqrt(square))
    // The root of a large number may be rounded down.
    if (s * s === square && isLikelyPrimeNumber(a - s) && isLikelyPrimeNumber(a + s))
      return { rest: 'prime', divisions: (a - s) * each }
    square += 2 * a + 1
    a++
  }
  return { rest: 'composite', divisions: root * each }
}

/** All prime factors up to `limit`, with multiplicity. */
function smallFactors(n: bigint): bigint[] {
  const factors: bigint[] = []
  let rest = n
  for (const [product, parts] of products) {
    const left = Number(rest % product)
    for (const prime of parts) {
      if (left % prime !== 0) continue
      for (const factor = BigInt(prime); rest % factor === 0n; rest /= factor) factors.push(factor)
    }
  }
  return factors
}

/** Primes in groups: one long division by the product of a group, then fast divisions of the remainder. */
const products = productsOf(primes)

function productsOf(primes: Iterable<number>): [product: bigint, primes: number[]][] {
  const groups: [bigint, number[]][] = []
  let group: number[] = []
  let product = 1
  for (const prime of [...primes, Number.POSITIVE_INFINITY]) {
    if (product * prime > 2 ** 31) {
      groups.push([BigInt(product), group])
      group = []
      product = 1
    }
    group.push(prime)
    product *= prime
  }
  return groups
}

/** Fermat test to base 2. Composites that pass are rare. */
function isLikelyPrime(n: bigint): boolean {
  let power = 1n
  for (const bit of (n - 1n).toString(2)) {
    power = (power * power) % n
    if (bit === '1') power <<= 1n
  }
  return power % n === 1n
}

/** Small multiples of numbers up to this are exact. */
const mostByFloats = 2 ** 50
/** Splits a Number into 26-bit halves, whose products are exact. */
const splitter = 2 ** 27 + 1

/** The same with floating point, ten times as fast. */
function isLikelyPrimeNumber(n: number): boolean {
  const inverse = 1 / n
  const nUp = splitter * n - (splitter * n - n)
  const nLow = n - nUp
  let power = 1
  for (let bit = 2 ** Math.floor(Math.log2(n)), left = n - 1; bit >= 1; bit /= 2) {
    // power² - quotient × n, each as a rounded product plus its rounding error.
    const up = splitter * power - (splitter * power - power)
    const low = power - up
    const square = power * power
    const squareRest = up * up - square + 2 * up * low + low * low
    const quotient = Math.floor(square * inverse)
    const quotientUp = splitter * quotient - (splitter * quotient - quotient)
    const quotientLow = quotient - quotientUp
    const product = quotient * n
    const productRest =
      quotientUp * nUp - product + quotientUp * nLow + quotientLow * nUp + quotientLow * nLow
    power = square - product + (squareRest - productRest)
    if (left >= bit) {
      left -= bit
      power *= 2
    }
    while (power < 0) power += n
    while (power >= n) power -= n
  }
  return power === 1
}

function primesTo(most: number): number[] {
  const found: number[] = []
  for (let n = 2; n <= most; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}
