/** Requests of factorize: products of two large primes, whose cost follows the smaller one. */
import type { MeterCase } from './case.ts'

/** Their squares fit into a Number. */
const roots = [3_000_017n, 10_000_019n, 20_000_003n, 30_000_001n, 50_000_017n, 80_000_023n]
/** Their products do not: they need three or four digits of a bigint. */
const three = [300_007n, 1_000_003n, 3_000_017n, 10_000_019n, 30_000_001n, 80_000_023n, 300_000_007n]
const four = [1_500_007n, 5_000_011n, 20_000_003n, 60_000_011n, 150_000_001n]

export const cases: MeterCase[] = [
  ...roots.map((prime) => prime * prime),
  ...three.map((prime) => prime * 100_000_000_003n),
  ...four.map((prime) => prime * 4_000_000_000_000_021n),
].map((n) => ({ params: { n: String(n) } }))
