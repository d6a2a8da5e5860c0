/** Requests of factorize: products of two primes, whose cost follows the smaller one, as Numbers and as BigInts. */
import type { MeterCase } from './case.ts'

const roots = [100_003n, 300_007n, 1_000_003n, 3_000_017n, 10_000_019n, 30_000_001n, 50_000_017n, 80_000_023n]
const squares = roots.map((prime) => prime * prime)
const products = roots.map((prime) => prime * 90_000_049n)
const large = [50_021n, 150_001n, 500_009n, 1_500_007n, 5_000_011n, 9_000_011n].map(
  (prime) => prime * 1_000_000_000_039n,
)

export const cases: MeterCase[] = [...squares, ...products, ...large].map((n) => ({
  params: { n: String(n) },
}))
