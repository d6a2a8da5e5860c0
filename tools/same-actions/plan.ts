/**
 * The runs that are compared: for each policy a group with faults and one without, the scenario of each run drawn
 * from its seed.
 */

import type { ChaosOptions } from '../../src/simulate/chaos.ts'
import type { PresetRun } from '../../src/simulate/preset-run.ts'
import type { RunSpec } from '../../src/simulate/simulate.ts'
import type { Checkout } from './checkout.ts'
import { type Draws, drawsOf } from './draws.ts'
import type { Chunk } from './log.ts'

type BrainSpec = RunSpec['brain']
type Scheduler = Parameters<Checkout['chaos']>[0]
type Scale = BrainSpec['scale']
type Traffic = Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'errorSigma' | 'known'>

export interface Group {
  kind: 'scheduler' | 'scaler' | 'preset'
  policy: string
  faults: boolean
  run(seed: number, log: (chunk: Chunk) => void): void
}

export function nameOf({ kind, policy, faults }: Omit<Group, 'run'>): string {
  return `${kind} ${policy}, ${faults ? 'with' : 'no'} faults`
}

export function plan(checkout: Checkout): Group[] {
  const { schedulers, scalers, presets } = checkout
  return [
    ...schedulers.map((policy) => schedulerFaults(checkout, policy as Scheduler)),
    ...schedulers.map((policy) => schedulerCalm(checkout, policy as Scheduler)),
    ...scalers.map((policy) => scalerFaults(checkout, policy)),
    ...scalers.map((policy) => scalerCalm(checkout, policy)),
    ...presets.map((policy) => presetCalm(checkout, policy)),
  ]
}

function schedulerFaults({ chaos }: Checkout, policy: Scheduler): Group {
  return {
    ...{ kind: 'scheduler', policy, faults: true },
    run: (seed, log) => void chaos(policy, seed, { log }),
  }
}

/** Schedulers that a scaler is made for; the others work with any. */
const partners: Record<string, Scheduler> = {
  'queue-length': 'central-queue',
  'on-misfit': 'class-limits',
  'cpu-ema': 'pack-spread',
  'average-work': 'least-work-capped',
  'cpu-step': 'least-work-guarded',
}
const anyScheduler: readonly Scheduler[] = ['srpt', 'least-work', 'least-connections', 'prequal']

function scalerFaults({ chaos, unitsPerSecond }: Checkout, policy: string): Group {
  return {
    ...{ kind: 'scaler', policy, faults: true },
    run(seed, log) {
      const draw = drawsOf(seed, `${policy} faults`)
      const { min: _, max: __, ...scale } = scaleOf(policy, draw, unitsPerSecond)
      const options: ChaosOptions = { scale, limits: { cpuEveryMs: 1000 } }
      if (policy === 'average-work') options.limits = { cpuEveryMs: 1000, attempts: 1_000_000, losses: 20 }
      if (policy === 'cpu-step') {
        const answers = { factor: 1, leastMs: 100, heartbeatMs: 700 }
        options.limits = { cpuEveryMs: 1000, attempts: 1_000_000, answers }
        options.overflow = { rule: 'small', afterFailure: true, errorsReturn: true, mostWork: 300_000 }
      }
      // The scenarios of this scheduler have tiers of their own, which suit their fleets. These are further seeds.
      if (policy === 'queue-length') return void chaos('central-queue', 10_000 + seed, { log })
      chaos(partners[policy] ?? draw.of(anyScheduler), seed, { ...options, log })
    },
  }
}

function schedulerCalm(checkout: Checkout, policy: Scheduler): Group {
  return {
    ...{ kind: 'scheduler', policy, faults: false },
    run(seed, log) {
      const draw = drawsOf(seed, policy)
      const workers = draw.of([1, 2, 3, 5, 12])
      const scale: Scale = draw.chance(0.7)
        ? { min: workers, max: workers }
        : scaleOf(draw.of(['work-forecast', 'hpa', 'kpa']), draw, checkout.unitsPerSecond)
      calm(checkout, policy, scale, workers, draw, seed, log)
    },
  }
}

function scalerCalm(checkout: Checkout, policy: string): Group {
  return {
    ...{ kind: 'scaler', policy, faults: false },
    run(seed, log) {
      const draw = drawsOf(seed, policy)
      const scale = scaleOf(policy, draw, checkout.unitsPerSecond)
      if (policy in longTerm && seed % 50 === 1) return long(checkout, scale, seed, log)
      calm(checkout, partners[policy] ?? draw.of(anyScheduler), scale, 4, draw, seed, log)
    },
  }
}

function presetCalm(checkout: Checkout, policy: string): Group {
  return {
    ...{ kind: 'preset', policy, faults: false },
    run(seed, log) {
      const draw = drawsOf(seed, policy)
      const run: PresetRun = {
        ...{ seed, ...traffic(checkout, 2, 200 + draw.below(400), draw) },
        timeScale: draw.of([1, 10, 60]),
        ...(draw.chance(0.3) && { cores: 1 + draw.below(4) }),
        ...(draw.chance(0.3) && { functions: 1 + draw.below(8) }),
        ...(draw.chance(0.3) && { promise: 'shortest 90 %: slowdown at most 2 at p95; deadlines: 95 %' }),
      }
      checkout.simulate(checkout.presetRun(policy, run), { log })
    },
  }
}

/** Scalers whose rules need thousands of jobs or long idle times, with the mean time between arrivals (ms). */
const longTerm: Record<string, number> = { 'work-forecast': 100, hpa: 100, kpa: 60_000 }

/** A plain run of many jobs. */
function long(checkout: Checkout, scale: Scale, seed: number, log: (chunk: Chunk) => void): void {
  const { simulate, bursty, lognormal, unitsPerSecond } = checkout
  const gapMs = longTerm[scale.policy!]!
  simulate(
    {
      brain: { ...{ scheduler: 'srpt', discipline: 'srpt', epoch: 1, seed, scale }, limits: { queue: 1e9 } },
      fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1e6, slots: 18, bootMs: 5000 },
      ...{ seed, jobs: 6000, errorSigma: 0.5, sizes: lognormal(-2, 2) },
      arrivals: bursty(1000 / gapMs, 10, 60_000, 30_000),
    },
    { log },
  )
}

/** A run without faults: a scheduler with any discipline, and of the brain's options a few. */
function calm(
  checkout: Checkout,
  scheduler: Scheduler,
  scale: Scale,
  workers: number,
  draw: Draws,
  seed: number,
  log: (chunk: Chunk) => void,
): void {
  const { simulate, unitsPerSecond } = checkout
  const usual = scheduler === 'srpt' ? 'srpt' : 'sharing'
  const discipline = draw.of([usual, usual, 'sharing', 'fifo', 'srpt'] as const)
  const cores = 1 + draw.below(4)
  const jobs = 200 + draw.below(600)
  const workPerMinute = unitsPerSecond * 60 * workers * cores * (0.1 + draw.next())
  const mostWork = unitsPerSecond * 10 ** (draw.next() * 2 - 1)
  const brain: BrainSpec = {
    ...{ scheduler, discipline, scale, epoch: 1, seed },
    placing: {
      ...{ mostWork, mostJobs: 1 + draw.below(6), againMs: 1000 + draw.below(3000) },
      keepAfterMs: draw.next() * 3000,
      classes: {
        intermediate: mostWork / 10,
        max: mostWork,
        graceMs: 200 + draw.next() * 3000,
        mostQueued: 4,
      },
      workClasses: [
        { name: 'light', mostWork: mostWork / 4 },
        { name: 'heavy', mostWork },
        { name: 'heaviest', mostWork: null },
      ],
    },
    limits: {
      beatMs: draw.of([500, 2000]),
      cpuEveryMs: 1000,
      queue: draw.of([20, 100, 300]),
      ...(draw.chance(0.2) && { waitMs: 500 + draw.below(20_000) }),
      ...(draw.chance(0.4) && { mostSlowdown: draw.of([0, 2, 10]), turnMs: 1 + draw.below(20) }),
    },
    ...(discipline === 'srpt' && draw.chance(0.5) && { fair: true }),
    ...(draw.chance(0.2) && { rateLimit: { workPerMinute, burst: workPerMinute / 10 } }),
    ...(draw.chance(0.3) && { overflow: overflowOf(draw, unitsPerSecond) }),
  }
  const memoryMb = draw.of([1_000_000, 1024])
  const slots = cores + 2 + draw.below(20)
  const spec: RunSpec = {
    ...{ brain, seed, ...traffic(checkout, workers * cores, jobs, draw) },
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb, slots, bootMs: draw.of([100, 5000]) },
    ...{ memoryMb: draw.below(100), clients: draw.of([1, 2, 5]) },
  }
  simulate(spec, { log })
}

/** Jobs that keep `cores` nearly busy. In half of the runs they have clients, deadlines and further options. */
function traffic(
  { poisson, bursty, lognormal, pareto, unitsPerSecond }: Checkout,
  cores: number,
  jobs: number,
  draw: Draws,
): Traffic {
  const sizes = draw.of([lognormal(-2, 2), lognormal(1.5, 1), pareto(1.1, 0.01, 100)])
  const perSecond = (draw.of([0.5, 0.8, 0.95, 1.3]) * cores) / sizes.meanSeconds
  const arrivals = draw.chance(0.5) ? poisson(perSecond) : bursty(perSecond, 10, 60_000, 20_000)
  const errorSigma = draw.of([0.5, 2])
  const plain = { jobs, arrivals, sizes, errorSigma }
  if (draw.chance(0.5)) return plain
  let seconds = 0
  const within = Math.exp(1.645 * errorSigma)
  const known = () => {
    const size = Math.max(1, Math.round(seconds * unitsPerSecond))
    const work = Math.max(1, Math.round(size * within ** (2 * draw.next() - 1)))
    return {
      ...{ workload: 'sim', work },
      ...(draw.chance(0.7) && { low: Math.floor(work / within), high: Math.ceil(work * within) }),
      memoryMb: draw.below(200),
      ...(draw.chance(0.6) && { client: `c${draw.below(4)}` }),
      ...(draw.chance(0.3) && { deadlineMs: (size / unitsPerSecond) * 1000 * (0.8 + 5 * draw.next()) }),
      ...(draw.chance(0.1) && { safeToRepeat: false }),
      ...(draw.chance(0.1) && { preemptible: false }),
      ...(draw.chance(0.5) && { lane: draw.of(['browse', 'purchase']) }),
    }
  }
  return { ...plain, sizes: { ...sizes, draw: (random) => (seconds = sizes.draw(random)) }, known }
}

/** Scalers that launch the first worker when a job arrives. */
const startFromNone = ['work-forecast', 'hpa', 'kpa', 'average-work']

function scaleOf(policy: string, draw: Draws, unitsPerSecond: number): Scale {
  const min = draw.below(3) || (startFromNone.includes(policy) ? 0 : 1)
  const scale: Scale = { policy: policy as NonNullable<Scale['policy']>, min, max: min + draw.of([1, 4, 20]) }
  const often = (ms: number) => ms * (0.2 + 2 * draw.next())
  switch (policy) {
    case 'work-forecast': {
      const promise = 'shortest 80 %: slowdown at most 2 at p95; deadlines: 95 %; budget: 4 an hour'
      const paid = draw.chance(0.3) ? { promise, pricePerHour: 1 } : {}
      return {
        ...scale,
        ...paid,
        ...(draw.chance(0.3) && { billing: { minimumMs: 5000, periodMs: 20_000 } }),
      }
    }
    case 'hpa':
    case 'kpa':
      return { ...scale, ...(draw.chance(0.5) && { target: 0.4 + draw.next() / 2 }) }
    case 'planned': {
      const plan = [2, 1, 4, 3, 0, 2].map((workers, i) => [i * 15_000, workers] as const)
      return { ...scale, plan, bootMs: 1000 }
    }
    case 'wandering':
      return { ...scale, wander: { everyMs: often(2000), untilMs: 60_000 } }
    case 'queue-length':
      return {
        ...scale,
        max: scale.max + 2,
        tiers: { hourMs: often(5000), everyMs: often(1000), perServer: 0.5 },
      }
    case 'on-misfit':
      return {
        ...scale,
        lowCpu: { everyMs: often(3000), times: 2 + draw.below(3), spare: 1 + draw.below(2) },
      }
    case 'cpu-ema':
      return { ...scale, everyMs: often(1500), workerWork: unitsPerSecond * often(2) }
    case 'average-work':
      return { ...scale, everyMs: often(1500), mostWork: 2_000_000 }
    case 'cpu-step':
      return { ...scale, everyMs: often(1500), checkMs: often(200) }
    default:
      return scale
  }
}

function overflowOf(draw: Draws, unitsPerSecond: number): NonNullable<BrainSpec['overflow']> {
  const small = { rule: 'small' as const, mostWork: unitsPerSecond * draw.next() }
  return {
    concurrency: 1 + draw.below(8),
    workPerSecond: unitsPerSecond * (0.3 + draw.next()),
    ...{ coldMs: draw.next() * 500, keepWarmMs: draw.next() * 5000, timeoutMs: 5000 + draw.next() * 60_000 },
    prices: { workerHour: draw.next(), waitingHour: 10 ** (draw.next() * 6 - 2) },
    ...(draw.chance(0.4) && { ...small, when: draw.of(['any', 'arrival'] as const) }),
    ...(draw.chance(0.3) && { retries: { most: 2, backoffMs: 300 } }),
  }
}
