/** A burst in virtual time: an hour of steady traffic with two minutes at six times the rate. */

import type { Random } from '../../src/lib/random.ts'
import { usualPrices } from '../../src/model/prices.ts'
import type { Arrivals } from '../../src/simulate/arrivals.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal } from '../../src/simulate/sizes.ts'
import { mean, quantile } from '../../src/simulate/summary.ts'

export const fleetWorkers = 4
export const cores = 2
/** The load of the fleet's cores outside the burst, and the factor within it. */
export const load = 0.6
export const times = 6
const minute = 60_000
const [burstFrom, burstUntil, until] = [20 * minute, 22 * minute, 60 * minute]
/** The usual price of a machine with two cores. */
export const workerHour = 0.085

export interface Contender {
  name: string
  workers: number
  /** Undefined: none. */
  functions?: { speed: number; waitingHour: number }
}

/** Figures of a run. Delay: time in the system beyond the job's time alone on a core. */
export interface Ran {
  jobs: number
  meanDelayMs: number
  p99DelayMs: number
  /** Of the shortest 90 %. */
  shortP99DelayMs: number
  workersCost: number
  functionsCost: number
  spent: number
  toFunctions: number
  refused: number
}

/** Steady arrivals with one burst. */
function burst(perSecond: number): Arrivals {
  return {
    name: 'burst',
    next(after: number, random: Random) {
      for (let at = after; ; ) {
        at += (random.exponential() / (perSecond * times)) * 1000
        if (at > until) return Infinity
        if ((at >= burstFrom && at < burstUntil) || random.next() * times < 1) return at
      }
    },
  }
}

export function run({ workers, functions }: Contender, seed: number): Ran {
  const sizes = lognormal()
  const delays: number[] = []
  const bySize: { sizeMs: number; delayMs: number }[] = []
  const result = simulate(
    {
      brain: {
        scheduler: 'srpt',
        discipline: 'srpt',
        scale: { min: workers, max: workers },
        epoch: 1,
        seed,
        limits: { queue: 1_000_000 },
        ...(functions && {
          overflow: {
            concurrency: 100,
            workPerSecond: unitsPerSecond * functions.speed,
            prices: { workerHour, waitingHour: functions.waitingHour },
          },
        }),
      },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots: cores + 16, bootMs: 0 },
      seed,
      jobs: 1_000_000,
      arrivals: burst((load * fleetWorkers * cores) / sizes.meanSeconds),
      sizes,
      errorSigma: 0.5,
      prices: { ...usualPrices, workerHour },
    },
    {
      answered(sizeMs, responseMs) {
        delays.push(responseMs - sizeMs)
        bySize.push({ sizeMs, delayMs: responseMs - sizeMs })
      },
    },
  )
  const sorted = Float64Array.from(delays).sort()
  bySize.sort((a, b) => a.sizeMs - b.sizeMs)
  const short = bySize.slice(0, Math.floor(bySize.length * 0.9)).map(({ delayMs }) => delayMs)
  const money = result.money()
  return {
    jobs: delays.length,
    meanDelayMs: mean(delays),
    p99DelayMs: quantile(sorted, 0.99),
    shortP99DelayMs: quantile(Float64Array.from(short).sort(), 0.99),
    workersCost: money.workers,
    functionsCost: money.functions,
    spent: money.spent,
    toFunctions: money.functionRequests,
    refused: result.summary().refused,
  }
}
