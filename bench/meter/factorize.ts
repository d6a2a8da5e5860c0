/** Requests of factorize: numbers of two large primes, whose cost follows the smaller one, with and without digits. */
import type { MeterCase } from './case.ts'

const roots = [3_000_017n, 10_000_019n, 20_000_003n, 30_000_001n, 50_000_017n, 80_000_023n]
const factors = [
  300_007n,
  1_000_003n,
  3_000_017n,
  10_000_019n,
  30_000_001n,
  80_000_023n,
  200_000_033n,
  450_000_007n,
]
/** Beyond what a Number holds, with three and with four digits. */
const others = [100_000_000_003n, 100_000_000_000_000_003n]

export const cases: MeterCase[] = [
  ...roots.map((prime) => prime * prime),
  ...factors.map((prime, i) => prime * others[i % 2]!),
].map((n) => ({ params: { n: String(n) } }))
