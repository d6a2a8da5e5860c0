/** The offered load of a stream of jobs: cores that would be busy, by minute, if no job ever waited. */

import type { PlanStep } from '../../src/brain/scale/planned.ts'
import { stream } from '../../src/lib/random.ts'
import type { Flow } from './traffic.ts'

const minuteMs = 60_000

/** For exactly the jobs that the simulator draws from this seed. */
export function offeredLoad({ arrivals, sizes }: Flow, seed: number): Float64Array {
  const draws = { arrivals: stream(seed, 'arrivals'), sizes: stream(seed, 'sizes') }
  const minutes: number[] = []
  for (let at = arrivals.next(0, draws.arrivals); at < Infinity; at = arrivals.next(at, draws.arrivals)) {
    let left = sizes.draw(draws.sizes) * 1000
    let from = at
    while (left > 0) {
      const minute = Math.floor(from / minuteMs)
      const here = Math.min(left, (minute + 1) * minuteMs - from)
      while (minutes.length <= minute) minutes.push(0)
      minutes[minute]! += here / minuteMs
      from += here
      left -= here
    }
  }
  return Float64Array.from(minutes)
}

/** Moving averages over `minutes`. */
export function smoothed(load: Float64Array, minutes: number): Float64Array {
  const reach = Math.floor(minutes / 2)
  return load.map((_, i) => {
    const part = load.subarray(Math.max(0, i - reach), i + reach + 1)
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
}

/** Workers for `factor` times the load, rounded, at least one. */
export function planFor(load: Float64Array, factor: number, coresEach: number): PlanStep[] {
  const steps: PlanStep[] = []
  for (const [minute, cores] of load.entries()) {
    const workers = Math.max(1, Math.round((factor * cores) / coresEach))
    if (workers !== steps.at(-1)?.[1]) steps.push([minute * minuteMs, workers])
  }
  return steps
}

/** The fleet size at which the busiest five minutes load 90 % of the cores. */
export function atPeak(load: Float64Array, coresEach: number): number {
  return Math.ceil(Math.max(...smoothed(load, 5)) / 0.9 / coresEach)
}
