/** The traffic that each of the five systems was designed for: recorded requests, arrivals and machines. */

import type { Random } from '../lib/random.ts'
import { presetOf } from '../systems/presets.ts'
import { virtualEstimator } from '../systems/virtual-estimator.ts'
import { type Arrivals, bursty } from './arrivals.ts'
import { type MixedRequest, RecordedRequests, recordedRequests } from './recorded/recorded-requests.ts'
import { type RunSpec, unitsPerSecond } from './simulate.ts'
import type { KnownJob } from './trace/trace.ts'

export interface OwnTraffic {
  /** Its preset, whose workloads were recorded. */
  name: string
  about: string
  hours: number
  /** The mean number of busy cores. */
  load: number
  machine: { cores: number; bootMs: number }
  /**
   * The recorded work that a core does in a second. Where it is less than that of the authors' machine, the recorded requests
   * are smaller than theirs, and the amounts of work of presets are divided by the same factor.
   */
  workPerSecond: number
  arrivals(perSecond: number): Arrivals
}

const hourMs = 3_600_000

export const ownTraffics: readonly OwnTraffic[] = [
  {
    name: 'cloudprime',
    about: 'factorisations from a millisecond to 50 min, a daily rhythm with crowds, boots of 2.5 min',
    hours: 24,
    load: 6,
    machine: { cores: 1, bootMs: 150_000 },
    workPerSecond: 2_400_000,
    arrivals: rhythmWithCrowds,
  },
  {
    name: 'tiered',
    about: 'a shop: browsing and purchases from 20 to 130 ms, bursts, boots of 5 s',
    hours: 2,
    load: 4,
    machine: { cores: 1, bootMs: 5000 },
    workPerSecond: 90_000_000,
    arrivals: (perSecond) => bursty(perSecond, 4, 300_000, 60_000),
  },
  {
    name: 'cnv',
    about:
      'fractals, genomes and reactions from a millisecond to 12 s, a daily rhythm with crowds, for three workers',
    hours: 24,
    load: 1.6,
    machine: { cores: 2, bootMs: 60_000 },
    workPerSecond: 500_000_000,
    arrivals: rhythmWithCrowds,
  },
  {
    name: 'hillclimbing',
    about: 'searches from a tenth of a second to half an hour, a daily rhythm with crowds',
    hours: 24,
    load: 5,
    machine: { cores: 1, bootMs: 60_000 },
    workPerSecond: 1_270_000,
    arrivals: rhythmWithCrowds,
  },
  {
    name: 'ecowork',
    about: 'simulations and pictures from 2 ms to 15 s, a daily rhythm with crowds',
    hours: 24,
    load: 6,
    machine: { cores: 1, bootMs: 60_000 },
    workPerSecond: 300_000_000,
    arrivals: rhythmWithCrowds,
  },
]

/** A system's traffic, ready to be served. */
export interface LoadedTraffic extends OwnTraffic {
  requests: readonly MixedRequest[]
}

/** Reads the recordings. */
export function loadTraffic(traffic: OwnTraffic): LoadedTraffic {
  return { ...traffic, requests: recordedRequests(presetOf(traffic.name).workloads ?? []) }
}

/** The number of jobs of a run. */
export function jobsOf({ requests, workPerSecond, hours, load }: LoadedTraffic): number {
  const { meanSeconds } = new RecordedRequests(requests, workPerSecond, 0).sizes
  return Math.round((load / meanSeconds) * hours * 3600)
}

type TrafficPart = Pick<RunSpec, 'sizes' | 'errorSigma' | 'known' | 'estimator' | 'asked'>

/** The part of a run's spec that its traffic decides. */
export function runOn(
  traffic: LoadedTraffic,
  preset: string,
  seed: number,
): TrafficPart & Pick<RunSpec, 'seed' | 'jobs' | 'arrivals'> {
  const part = requestsOf(traffic, preset, seed)
  const perSecond = traffic.load / part.sizes.meanSeconds
  const arrivals = startingAt(traffic.machine.bootMs, traffic.arrivals(perSecond))
  return { ...part, seed, jobs: jobsOf(traffic), arrivals }
}

/** Clients come when the workers that a preset starts with have booted: nobody opens a service before. */
function startingAt(startMs: number, { name, next }: Arrivals): Arrivals {
  return { name, next: (after, random) => startMs + next(Math.max(0, after - startMs), random) }
}

/** The requests of a run, estimated by the preset's own estimator. */
export function requestsOf(
  { name, requests, workPerSecond }: Pick<LoadedTraffic, 'name' | 'requests' | 'workPerSecond'>,
  preset: string,
  seed: number,
): TrafficPart {
  const drawn = new RecordedRequests(requests, workPerSecond, seed)
  const isShop = name === 'tiered'
  const known = (): KnownJob => {
    const { workload, params, work } = drawn.last.request
    const units = Math.max(1, Math.round((work / workPerSecond) * unitsPerSecond))
    return { workload, work: units, memoryMb: 0, ...(isShop && { lane: String(params.action) }) }
  }
  const part = { sizes: drawn.sizes, errorSigma: 0, known }
  if (!isEstimating(preset)) return part
  const last = () => {
    const { question, request } = drawn.last
    const { work, quantities } = request
    return { question, work, ...(quantities && { quantities }) }
  }
  const estimator = estimatorFor(preset, requests, workPerSecond)
  return { ...part, estimator, asked: { workPerSecond, last } }
}

/** False: its policies ask for no estimates, and it is told the true work, which it does not use. */
export function isEstimating(preset: string): boolean {
  const { estimator, scheduler } = presetOf(preset)
  return estimator !== undefined || scheduler === 'srpt'
}

function estimatorFor(preset: string, requests: readonly MixedRequest[], workPerSecond: number) {
  const workScale = (presetOf(preset).machine?.workPerSecond ?? workPerSecond) / workPerSecond
  const { estimator: spec } = presetOf(preset, { workScale })
  if (!spec) return virtualEstimator(undefined, workPerSecond / 1000)
  // Measurements are applied at once: in a simulation no store is shared.
  const { writeEveryMs: _, quantities, ...rest } = spec
  // Only requests that were recorded for the system have its quantities.
  const isMetered = quantities && requests.every((request) => request.quantities)
  return virtualEstimator({ ...rest, ...(isMetered && { quantities }) }, workPerSecond / 1000)
}

/** A daily rhythm, with crowds of four times the rate for some minutes. */
function rhythmWithCrowds(perSecond: number): Arrivals {
  const [depth, factor, calmMs, crowdMs] = [0.8, 4, 0.75 * hourMs, hourMs / 12]
  const calm = (perSecond * (calmMs + crowdMs)) / (calmMs + factor * crowdMs)
  const peak = calm * factor * (1 + depth)
  let crowd = true
  let until = 0
  return {
    name: 'rhythm with crowds',
    next(after, random: Random) {
      let at = after
      for (;;) {
        at += (random.exponential() / peak) * 1000
        while (at >= until) {
          crowd = !crowd
          until += random.exponential() * (crowd ? crowdMs : calmMs)
        }
        const ofDay = 1 - depth * Math.cos((2 * Math.PI * at) / (24 * hourMs))
        if (random.next() * peak < calm * (crowd ? factor : 1) * ofDay) return at
      }
    },
  }
}
