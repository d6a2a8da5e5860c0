/** Miller-Rabin primality test, independent of the workload that the demo checks. */

/** With these bases the test is exact below 3.3e24. */
const bases = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n]

export function isPrime(n: bigint): boolean {
  if (n < 2n) return false
  for (const base of bases) if (n % base === 0n) return n === base
  let odd = n - 1n
  let halvings = 0
  for (; odd % 2n === 0n; odd /= 2n) halvings++
  return bases.every((base) => {
    let x = power(base, odd, n)
    if (x === 1n || x === n - 1n) return true
    for (let i = 1; i < halvings; i++) {
      x = (x * x) % n
      if (x === n - 1n) return true
    }
    return false
  })
}

/** The smallest prime that is at least `n`. */
export function primeFrom(n: number): bigint {
  let candidate = BigInt(n) | 1n
  while (!isPrime(candidate)) candidate += 2n
  return candidate
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}
