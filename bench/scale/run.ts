/** One contender on one stream of jobs. As a worker thread, it receives runs and returns their figures. */

import { parentPort } from 'node:worker_threads'
import { FleetSteps } from '../../src/simulate/fleet-steps.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import type { Summary } from '../../src/simulate/summary.ts'
import type { ScaleSpec } from '../../src/systems/scalers.ts'
import { atPeak, offeredLoad, planFor, smoothed } from './offered.ts'
import { flowOf, type TrafficName } from './traffic.ts'

/** A scaling policy with its settings, or a fleet sized with knowledge of the future. */
export interface Contender {
  scheduler: 'srpt' | 'least-connections'
  scale: Partial<ScaleSpec>
  /** A fixed fleet, sized for the peak. */
  peak?: true
  /** Knows the future: workers for `factor` times the coming load, averaged over `minutes`. */
  clairvoyant?: { factor: number; minutes: number }
}

export interface Run extends Contender {
  traffic: TrafficName
  bootMs: number
  seed: number
  hours?: number
  sigma?: number
}

export interface Figures
  extends Pick<Summary, 'jobs' | 'refused' | 'shortP99Slowdown' | 'largestSlowdown' | 'p99Slowdown'> {
  workerHours: number
  reversals: number
  launches: number
  peak: number
  hours: number
}

export const cores = 2
const usualSigma = 0.5
/** High enough to limit no policy. */
const most = 1000

export async function figuresOf(run: Run): Promise<Figures> {
  const { scheduler, seed, bootMs } = run
  const fleetSteps = new FleetSteps()
  const sharing = scheduler === 'least-connections'
  let lastMs = 0
  const flow = await flowOf(run.traffic, run.hours)
  const { arrivals } = flow
  const result = simulate(
    {
      ...flow,
      arrivals: {
        name: arrivals.name,
        next(after, random) {
          const at = arrivals.next(after, random)
          if (at < Infinity) lastMs = at
          return at
        },
      },
      brain: {
        scheduler,
        discipline: sharing ? 'sharing' : 'srpt',
        scale: { min: 1, max: most, bootMs, ...(await scaleOf(run)) },
        epoch: 1,
        seed,
        limits: { queue: 1e9 },
      },
      fleet: {
        cores,
        workPerSecond: unitsPerSecond,
        memoryMb: 1_000_000,
        slots: sharing ? 10_000 : cores + 16,
        bootMs,
      },
      seed,
      errorSigma: run.sigma ?? usualSigma,
    },
    { observer: fleetSteps },
  )
  const summary = result.summary()
  const { workerHours, peakWorkers } = result.money()
  const { jobs, refused, shortP99Slowdown, largestSlowdown, p99Slowdown } = summary
  return {
    ...{ jobs, refused, shortP99Slowdown, largestSlowdown, p99Slowdown },
    workerHours,
    reversals: fleetSteps.reversals,
    launches: fleetSteps.launches,
    peak: peakWorkers,
    hours: lastMs / 3_600_000,
  }
}

async function scaleOf({ scale, peak, clairvoyant, traffic, hours, seed }: Run): Promise<Partial<ScaleSpec>> {
  if (!peak && !clairvoyant) return scale
  const load = offeredLoad(await flowOf(traffic, hours), seed)
  if (!clairvoyant) {
    const workers = atPeak(load, cores)
    return { min: workers, max: workers }
  }
  const { factor, minutes } = clairvoyant
  return { policy: 'planned', plan: planFor(smoothed(load, minutes), factor, cores) }
}

parentPort?.on('message', async (run: Run) => parentPort!.postMessage(await figuresOf(run)))
