/** How many requests a second the simulator serves, and how that compares to a bare loop in the same process. */

import { poisson } from '../src/simulate/arrivals.ts'
import { simulate, unitsPerSecond } from '../src/simulate/simulate.ts'
import { lognormal } from '../src/simulate/sizes.ts'
import { median } from '../src/simulate/summary.ts'
import { bareLoop } from './bare-loop.ts'

export interface SimulatorSpeed {
  requestsPerSecond: number
  /** Requests in the CPU time in which the bare loop does one. */
  vsBareLoop: number
}

/** Medians of several runs, with a run of the bare loop after each. The event log is written, and its bytes counted. */
export function simulatorSpeed({ quick }: { quick: boolean }): SimulatorSpeed {
  const jobs = quick ? 50_000 : 100_000
  // The first two runs are compiled while they run.
  const runs = Array.from({ length: quick ? 7 : 17 }, (_, seed) => {
    const began = performance.now()
    const simulatedUs = cpuUs(() => run(seed, jobs))
    const ms = performance.now() - began
    const bareUs = cpuUs(() => bareLoop(jobs))
    return { perSecond: (jobs / ms) * 1000, vsBareLoop: bareUs / simulatedUs }
  }).slice(2)
  return {
    requestsPerSecond: median(runs.map((one) => one.perSecond)),
    vsBareLoop: median(runs.map((one) => one.vsBareLoop)),
  }
}

function run(seed: number, jobs: number): void {
  const sizes = lognormal()
  const limits = { queue: 1e9 }
  const scale = { min: 8, max: 8 }
  let bytes = 0
  simulate(
    {
      brain: { scheduler: 'srpt', discipline: 'srpt', scale, epoch: 1, seed, limits },
      fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots: 18, bootMs: 0 },
      seed,
      jobs,
      arrivals: poisson((0.9 * 16) / sizes.meanSeconds),
      sizes,
      errorSigma: 0.5,
    },
    {
      log(chunk) {
        bytes += chunk.length
      },
    },
  )
  if (bytes === 0) throw new Error('no event log was written')
}

/** CPU time, so that other processes on the machine do not count. */
export function cpuUs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
