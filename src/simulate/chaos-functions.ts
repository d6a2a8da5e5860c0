/** The functions of a scenario, and what goes wrong with them, drawn from its seed. */

import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import { stream } from '../lib/random.ts'
import { unitsPerSecond } from './simulate.ts'

/** The longest function timeout of all scenarios. */
export const longestFunctionMs = 20_000

/**
 * Half of the scenarios have functions: slower or faster than workers, some with a low concurrency limit, cheap or
 * expensive, or for all small jobs.
 */
export function functionsFrom(seed: number, cores: number): { overflow?: OverflowOptions } {
  const random = stream(seed, 'overflow')
  if (random.next() < 0.5) return {}
  const overflow = {
    concurrency: 1 + random.below(2 * cores + 4),
    workPerSecond: unitsPerSecond * (0.3 + random.next() * 1.5),
    memoryMb: 64 * (1 + random.below(8)),
    timeoutMs: 1000 + random.next() * (longestFunctionMs - 1000),
    coldMs: random.next() * 500,
    keepWarmMs: random.next() * 5000,
    patienceMs: 200 + random.next() * 2000,
    everyMs: 50 + random.below(500),
    prices: { workerHour: random.next(), waitingHour: 10 ** (random.next() * 6 - 2) },
    ...(random.next() < 0.5 && {
      rule: 'small' as const,
      mostWork: unitsPerSecond * 10 ** (random.next() * 3 - 2),
    }),
    ...{ afterFailure: random.next() < 0.5, errorsReturn: random.next() < 0.5 },
  }
  const small = stream(seed, 'small overflow')
  if (small.next() < 0.5) return { overflow }
  const retries = { most: 1 + small.below(4), backoffMs: small.below(800) }
  const mostWork = unitsPerSecond * small.next()
  const when = small.next() < 0.7 ? 'arrival' : 'any'
  return { overflow: { ...overflow, rule: 'small', mostWork, when, ...(small.next() < 0.7 && { retries }) } }
}

export function functionFaults(seed: number) {
  const random = stream(seed, 'function faults')
  const share = () => (random.next() < 0.5 ? 0 : random.next() * 0.25)
  const [functionThrottles, functionErrs, functionDies, functionHangs] = [share(), share(), share(), share()]
  return { functionThrottles, functionErrs, functionDies, functionHangs }
}
