/** A run without faults: a number of jobs of given sizes arrive, and the brain serves them. */

import { overflowDefaults } from '../brain/functions/overflow-spec.ts'
import type { Estimator } from '../estimate/estimator.ts'
import { type Random, stream } from '../lib/random.ts'
import type { Job } from '../model/job.ts'
import { type Prices, usualPrices } from '../model/prices.ts'
import { Bill, type Money } from '../story/money.ts'
import type { BrainSpec, OwnPolicies } from '../systems/brain-spec.ts'
import type { Arrivals } from './arrivals.ts'
import { rank } from './clock.ts'
import type { FleetSpec, Observer } from './environment.ts'
import { OwnEstimates } from './own-estimates.ts'
import type { Sizes } from './sizes.ts'
import { Answers, type Summary } from './summary.ts'
import type { KnownJob } from './trace/trace.ts'
import { unitsPerSecond } from './units.ts'
import { World } from './world.ts'

export { unitsPerSecond } from './units.ts'

export interface RunSpec {
  brain: BrainSpec
  /** Policies that replace those of the brain's spec. */
  policies?: OwnPolicies
  /** Replaces the estimates that are off by `errorSigma` or recorded in a trace; see `OwnEstimates`. */
  estimator?: Estimator
  fleet: FleetSpec
  seed: number
  jobs: number
  arrivals: Arrivals
  sizes: Sizes
  /** Estimates are off by a lognormal factor of this sigma; 0: they are exact. */
  errorSigma: number
  memoryMb?: number
  /** The number of clients, which send jobs in turn. */
  clients?: number
  /** What a trace recorded about the job whose size was drawn last; its estimate is used. */
  known?: () => KnownJob
  /** The number of jobs at the start that figures leave out. */
  warmup?: number
  /** Default: functions at the usual list price, workers free. */
  prices?: Prices
}

export interface RunHooks {
  log?: (chunk: Uint8Array) => void
  observer?: Observer
  /** Called many times a second with the number of jobs answered. */
  progress?: (answered: number) => void
  /** Called for each result, with the job's time alone on a nominal core and its response time. */
  answered?: (sizeMs: number, responseMs: number) => void
  /** Called after each event and its immediate consequences. */
  settled?: (world: World) => void
}

export interface RunResult {
  summary(): Summary
  /** The bill. */
  money(): Money
  virtualMs: number
}

export function simulate(spec: RunSpec, hooks: RunHooks = {}): RunResult {
  const answers = new Answers()
  const { warmup = 0, clients = 1 } = spec
  let ended = 0
  /** Becomes smaller if the arrivals end early. */
  let jobs = spec.jobs
  const functionMb = spec.brain.overflow?.memoryMb ?? overflowDefaults.memoryMb
  const bill = new Bill(spec.prices ?? usualPrices, functionMb)
  const own = spec.estimator && new OwnEstimates(spec.estimator)
  const submit = (job: Job, size: number) => world.submit(own ? own.estimate(job) : job, size)
  const world = new World({
    brain: spec.brain,
    ...(spec.policies && { policies: spec.policies }),
    seed: spec.seed,
    fleet: spec.fleet,
    ...(hooks.log && { log: hooks.log }),
    observer: both(bill, hooks.observer),
    ...(hooks.settled && { settled: hooks.settled }),
    answered(truth, answer, now) {
      ended++
      own?.ended(truth, answer.outcome === 'result')
      if (warmup > 0 && Number(truth.job.id.slice(1)) <= warmup) return
      if (answer.outcome === 'dropped') return void answers.dropped++
      if (answer.outcome !== 'result') return void answers.refused++
      const sizeMs = truth.size / (unitsPerSecond / 1000)
      const responseMs = now - truth.arrivedAt
      answers.add(sizeMs, responseMs)
      hooks.answered?.(sizeMs, responseMs)
    },
  })
  const draws = {
    arrivals: stream(spec.seed, 'arrivals'),
    sizes: stream(spec.seed, 'sizes'),
    errors: stream(spec.seed, 'errors'),
  }
  // The interval of a calibrated estimator: 90 % of the errors are smaller.
  const within = Math.exp(1.645 * spec.errorSigma)
  world.begin()
  let count = 0
  const arrive = () => {
    count++
    const size = Math.max(1, Math.round(spec.sizes.draw(draws.sizes) * unitsPerSecond))
    const id = `j${count}`
    if (spec.known) submit(jobKnownAs(id, spec.known(), world.clock.now), size)
    else {
      const work = guess(size, spec.errorSigma, draws.errors)
      const low = Math.floor(work / within)
      const high = Math.ceil(work * within)
      const job: Job = { id, workload: 'sim', work, low, high, memoryMb: spec.memoryMb ?? 0 }
      if (clients > 1) job.client = `c${count % clients}`
      submit(job, size)
    }
    if (count < jobs) plan()
  }
  const arrival = { item: arrive, at: -1 }
  const plan = () => {
    const time = spec.arrivals.next(world.clock.now, draws.arrivals)
    if (time < Infinity) world.clock.move(arrival, time, rank.arrival)
    else jobs = count
  }
  plan()
  // Each step hands the brain one event; all work happens there.
  for (let steps = 1; ended < jobs && world.clock.step(); steps++)
    if (hooks.progress && steps % 1024 === 0) hooks.progress(ended)
  world.flushLog()
  const { now } = world.clock
  return { summary: () => answers.summary(), money: () => bill.at(now), virtualMs: now }
}

function both(bill: Bill, observer: Observer | undefined): Observer {
  return {
    observe(event, actions, now, brain) {
      bill.observe(event, actions, now)
      observer?.observe(event, actions, now, brain)
    },
  }
}

function jobKnownAs(id: string, { deadlineMs, ...known }: KnownJob, now: number): Job {
  return { id, ...known, ...(deadlineMs !== undefined && { deadlineAt: now + deadlineMs }) }
}

/** Predicted work that is off by a lognormal factor. */
export function guess(size: number, sigma: number, random: Random): number {
  return sigma === 0 ? size : Math.max(1, Math.round(size * Math.exp(sigma * random.normal())))
}
