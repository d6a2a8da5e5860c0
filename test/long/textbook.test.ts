/** The simulator agrees with queueing theory on mean response times. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { DisciplineName } from '../../src/model/discipline.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { exponential, lognormal, type Sizes } from '../../src/simulate/sizes.ts'
import { median } from '../../src/simulate/summary.ts'
import type { SchedulerName } from '../../src/systems/schedulers.ts'

interface Station {
  scheduler: SchedulerName
  discipline: DisciplineName
  cores: number
  perSecond: number
  sizes: Sizes
  jobs: number
}

/** The mean response time in seconds; the median of several seeds. */
function meanResponse({ scheduler, discipline, cores, perSecond, sizes, jobs }: Station): number {
  const runs = [1, 2, 3, 4, 5].map((seed) => {
    const { summary } = simulate({
      brain: { scheduler, discipline, scale: { min: 1, max: 1 }, epoch: 1, seed, limits: { queue: 1e9 } },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1, slots: 1e9, bootMs: 0 },
      seed,
      jobs,
      arrivals: poisson(perSecond),
      sizes,
      errorSigma: 0,
      warmup: jobs / 20,
    })
    return summary().meanResponseMs / 1000
  })
  return median(runs)
}

function within3Percent(t: TestContext, measured: number, expected: number): void {
  t.diagnostic(`measured ${measured.toFixed(4)} s, the textbook says ${expected.toFixed(4)} s`)
  const off = Math.abs(measured / expected - 1)
  assert.ok(off < 0.03, `measured ${measured.toFixed(4)} s, the textbook says ${expected.toFixed(4)} s`)
}

const fifo = { scheduler: 'least-connections', discipline: 'fifo' } as const

test('M/M/1: 1 ÷ (μ − λ)', (t) => {
  const station = {
    ...fifo,
    cores: 1,
    perSecond: 0.7,
    sizes: exponential(1),
    jobs: 100_000,
  }
  within3Percent(t, meanResponse(station), 1 / (1 - 0.7))
})

test('M/M/4: Erlang C', (t) => {
  const [cores, perSecond] = [4, 3.2]
  const load = perSecond / cores
  let terms = 0
  let term = 1
  for (let n = 0; n < cores; n++) {
    terms += term
    term *= perSecond / (n + 1)
  }
  const waits = term / (1 - load) / (terms + term / (1 - load))
  const station = { ...fifo, cores, perSecond, sizes: exponential(1), jobs: 100_000 }
  within3Percent(t, meanResponse(station), 1 + waits / (cores - perSecond))
})

test('M/G/1 processor sharing: E[S] ÷ (1 − ρ), for any distribution', (t) => {
  const sizes = lognormal(-0.5, 1)
  const station: Station = {
    scheduler: 'least-connections',
    discipline: 'sharing',
    cores: 1,
    perSecond: 0.7,
    sizes,
    jobs: 100_000,
  }
  within3Percent(t, meanResponse(station), sizes.meanSeconds / (1 - 0.7 * sizes.meanSeconds))
})

test('M/G/1 shortest remaining first: the integral of Schrage and Miller', (t) => {
  const perSecond = 0.8
  for (const [sizes, density] of [
    [exponential(1), (x: number) => Math.exp(-x)],
    [
      lognormal(-0.5, 1),
      (x: number) => Math.exp(-((Math.log(x) + 0.5) ** 2) / 2) / (x * Math.sqrt(2 * Math.PI)),
    ],
  ] as const) {
    const station: Station = {
      scheduler: 'srpt',
      discipline: 'srpt',
      cores: 1,
      perSecond,
      sizes,
      jobs: 100_000,
    }
    within3Percent(t, meanResponse(station), shortestRemaining(perSecond, density))
  }
})

/** The mean response time under shortest remaining processing time: waiting plus residence, over all sizes. */
function shortestRemaining(perSecond: number, density: (x: number) => number): number {
  const step = 0.0005
  let [mass, load, second, residence, total] = [0, 0, 0, 0, 0]
  for (let x = step / 2; x < 120; x += step) {
    const weight = density(x) * step
    const middle = {
      mass: mass + weight / 2,
      load: load + (perSecond * x * weight) / 2,
      second: second + (x * x * weight) / 2,
    }
    residence += step / (1 - middle.load)
    const waiting = (perSecond * (middle.second + x * x * (1 - middle.mass))) / (2 * (1 - middle.load) ** 2)
    total += weight * (waiting + residence)
    mass += weight
    load += perSecond * x * weight
    second += x * x * weight
  }
  return total
}
