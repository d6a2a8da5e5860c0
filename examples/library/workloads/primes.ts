import { parameters, whole } from 'plimsoll/params'
import { defineWorkload } from 'plimsoll/workload'

/** Counts prime numbers, the slow way. */
export default defineWorkload({
  name: 'primes',
  description: 'How many prime numbers are below n.',
  params: parameters({ n: whole({ min: 0, max: 10_000_000 }) }),
  run({ n }) {
    let count = 0
    for (let i = 2; i < n; i++) if (isPrime(i)) count++
    return { n, count }
  },
})

function isPrime(n: number): boolean {
  for (let i = 2; i * i <= n; i++) if (n % i === 0) return false
  return true
}
