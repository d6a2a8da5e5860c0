/** The traffic that each of the five systems was designed for: arrivals, sizes and machines. */

import { type Random, stream } from '../lib/random.ts'
import type { EstimatorName } from '../systems/estimators.ts'
import { type Arrivals, bursty } from './arrivals.ts'
import { guess, type RunSpec, unitsPerSecond } from './simulate.ts'
import { lognormal, type Sizes } from './sizes.ts'

export interface OwnTraffic {
  /** Its preset. */
  name: string
  about: string
  hours: number
  /** The mean number of busy cores. */
  load: number
  machine: { cores: number; bootMs: number }
  sizes: Sizes
  arrivals(perSecond: number): Arrivals
  /**
   * The error of each estimator on such requests: the sigma of a lognormal factor, from the p95 of `bench estimate`.
   * `rank-memo`, which only knows repeated requests, is credited with repetitions.
   */
  sigma: Readonly<Record<EstimatorName | 'learned', number>>
  /** The lane of a request of this size. */
  laneOf?(seconds: number): string
}

const hourMs = 3_600_000

export const ownTraffics: readonly OwnTraffic[] = [
  {
    name: 'cloudprime',
    about: 'factorisations from 50 ms to 40 min, a daily rhythm with crowds, boots of 2.5 min',
    hours: 24,
    load: 6,
    machine: { cores: 1, bootMs: 150_000 },
    sizes: bounded('factorize', lognormal(Math.log(3), 2.2), 0.05, 2400),
    arrivals: rhythmWithCrowds,
    sigma: {
      learned: 1.06,
      'rank-memo': 1.5,
      'log-polynomial': 1.04,
      'similar-requests': 1.66,
      slopes: 2.32,
    },
  },
  {
    name: 'tiered',
    about: 'a shop: short reads, and purchases four times as long; bursts, boots of 5 s',
    hours: 2,
    load: 4,
    machine: { cores: 1, bootMs: 5000 },
    sizes: readsAndWrites(0.06, 0.25, 0.15),
    arrivals: (perSecond) => bursty(perSecond, 4, 300_000, 60_000),
    sigma: { learned: 0.1, 'rank-memo': 1.5, 'log-polynomial': 0.1, 'similar-requests': 0.1, slopes: 0.1 },
    laneOf: (seconds) => (seconds < 0.1 ? 'browse' : 'purchase'),
  },
  {
    name: 'cnv',
    about: 'fractals, genomes and reactions around a second, a daily rhythm with crowds, for three workers',
    hours: 24,
    load: 1.6,
    machine: { cores: 2, bootMs: 60_000 },
    sizes: bounded('pictures', lognormal(Math.log(1), 1.2), 0.01, 60),
    arrivals: rhythmWithCrowds,
    sigma: { learned: 0.1, 'rank-memo': 1.5, 'log-polynomial': 0.14, 'similar-requests': 0.34, slopes: 0.44 },
  },
  {
    name: 'hillclimbing',
    about: 'searches from a second to 6.5 min, a daily rhythm with crowds',
    hours: 24,
    load: 5,
    machine: { cores: 1, bootMs: 60_000 },
    sizes: bounded('searches', lognormal(Math.log(10), 1.2), 0.5, 392),
    arrivals: rhythmWithCrowds,
    sigma: {
      learned: 0.38,
      'rank-memo': 1.5,
      'log-polynomial': 0.46,
      'similar-requests': 1.04,
      slopes: 0.75,
    },
  },
  {
    name: 'ecowork',
    about: 'simulations and pictures from 10 ms to 2 min, a daily rhythm with crowds',
    hours: 24,
    load: 6,
    machine: { cores: 1, bootMs: 60_000 },
    sizes: bounded('simulations', lognormal(Math.log(0.8), 1.6), 0.01, 120),
    arrivals: rhythmWithCrowds,
    sigma: { learned: 0.1, 'rank-memo': 1.5, 'log-polynomial': 0.15, 'similar-requests': 0.19, slopes: 1.58 },
  },
]

/** The part of a run's spec that its traffic decides. */
export function runOn(
  { hours, load, sizes, arrivals, laneOf, sigma }: OwnTraffic,
  estimator: EstimatorName | undefined,
  seed: number,
): Pick<RunSpec, 'seed' | 'jobs' | 'arrivals' | 'sizes' | 'errorSigma' | 'known'> {
  const perSecond = load / sizes.meanSeconds
  const errorSigma = sigma[estimator ?? 'learned']
  const jobs = Math.round(perSecond * hours * 3600)
  const run = { seed, jobs, arrivals: arrivals(perSecond), errorSigma }
  if (!laneOf) return { ...run, sizes }
  // `known` is called right after a size was drawn.
  let seconds = 0
  const errors = stream(seed, 'errors')
  const drawn = { ...sizes, draw: (random: Random) => (seconds = sizes.draw(random)) }
  const known = () => {
    const work = guess(Math.max(1, Math.round(seconds * unitsPerSecond)), errorSigma, errors)
    return { workload: 'shop', lane: laneOf(seconds), work, memoryMb: 0 }
  }
  return { ...run, sizes: drawn, known }
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
    next(after, random) {
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

/** Clamps the sizes. */
function bounded(name: string, sizes: Sizes, least: number, most: number): Sizes {
  const draw = (random: Random) => Math.min(most, Math.max(least, sizes.draw(random)))
  return { name, draw, meanSeconds: meanOf(draw) }
}

function readsAndWrites(readSeconds: number, writeSeconds: number, writes: number): Sizes {
  const draw = (random: Random) => {
    const mean = random.next() < writes ? writeSeconds : readSeconds
    return mean * (0.5 + random.next())
  }
  return { name: 'shop', draw, meanSeconds: meanOf(draw) }
}

function meanOf(draw: (random: Random) => number): number {
  const random = stream(1, 'mean')
  const draws = 200_000
  let sum = 0
  for (let i = 0; i < draws; i++) sum += draw(random)
  return sum / draws
}
