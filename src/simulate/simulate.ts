/** A run without faults: a number of jobs of given sizes arrive, and the brain serves them. */

import { overflowDefaults } from '../brain/functions/overflow-spec.ts'
import type { Estimator } from '../estimate/estimator.ts'
import { type Random, stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import type { Job } from '../model/job.ts'
import { type Prices, usualPrices } from '../model/prices.ts'
import { Bill, type Money } from '../story/money.ts'
import type { BrainSpec, OwnPolicies } from '../systems/brain-spec.ts'
import type { Arrivals } from './arrivals.ts'
import { rank } from './clock.ts'
import type { FleetSpec, Observer, Truth } from './environment.ts'
import { type AskedJob, OwnEstimates } from './own-estimates.ts'
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
  /**
   * Replaces the estimates that are off by `errorSigma` or recorded in a trace; see `OwnEstimates`. One that builds models
   * in the background is awaited by `simulateLearning`.
   */
  estimator?: Estimator & { settled?(): Promise<void> }
  /** Recorded requests, for the estimator. */
  asked?: {
    /** The unit of their work. */
    workPerSecond: number
    /** The request whose size was drawn last. */
    last(): AskedJob
  }
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
  const run = new Run(spec, hooks)
  while (run.step()) {}
  return run.result()
}

/** The same, for estimators that build models in the background: no virtual time passes until they are built. */
export async function simulateLearning(spec: RunSpec, hooks: RunHooks = {}): Promise<RunResult> {
  const run = new Run(spec, hooks)
  while (run.step()) {
    if (!run.own?.hasLearned) continue
    run.own.hasLearned = false
    await spec.estimator?.settled?.()
  }
  return run.result()
}

class Run {
  readonly own: OwnEstimates | undefined
  readonly #spec: RunSpec
  readonly #hooks: RunHooks
  readonly #world: World
  readonly #answers = new Answers()
  readonly #bill: Bill
  readonly #draws: Record<'arrivals' | 'sizes' | 'errors', Random>
  /** The interval of a calibrated estimator: 90 % of the errors are smaller. */
  readonly #within: number
  readonly #arrival = { item: () => this.#arrive(), at: -1 }
  /** Becomes smaller if the arrivals end early. */
  #jobs: number
  #count = 0
  #ended = 0
  #steps = 0

  constructor(spec: RunSpec, hooks: RunHooks) {
    this.#spec = spec
    this.#hooks = hooks
    this.#jobs = spec.jobs
    this.#bill = new Bill(
      spec.prices ?? usualPrices,
      spec.brain.overflow?.memoryMb ?? overflowDefaults.memoryMb,
    )
    this.own = spec.estimator && new OwnEstimates(spec.estimator, spec.asked?.workPerSecond)
    this.#world = new World({
      brain: spec.brain,
      ...(spec.policies && { policies: spec.policies }),
      seed: spec.seed,
      fleet: spec.fleet,
      ...(hooks.log && { log: hooks.log }),
      observer: both(this.#bill, hooks.observer),
      ...(hooks.settled && { settled: hooks.settled }),
      answered: (truth, answer, now) => this.#answered(truth, answer, now),
    })
    this.#draws = {
      arrivals: stream(spec.seed, 'arrivals'),
      sizes: stream(spec.seed, 'sizes'),
      errors: stream(spec.seed, 'errors'),
    }
    this.#within = Math.exp(1.645 * spec.errorSigma)
    this.#world.begin()
    this.#plan()
  }

  /** Hands the brain one event; all work happens there. False: all jobs have ended. */
  step(): boolean {
    if (this.#ended >= this.#jobs || !this.#world.clock.step()) return false
    this.#steps++
    if (this.#hooks.progress && this.#steps % 1024 === 0) this.#hooks.progress(this.#ended)
    return true
  }

  result(): RunResult {
    this.#world.flushLog()
    const { now } = this.#world.clock
    return { summary: () => this.#answers.summary(), money: () => this.#bill.at(now), virtualMs: now }
  }

  #plan(): void {
    const { clock } = this.#world
    const time = this.#spec.arrivals.next(clock.now, this.#draws.arrivals)
    if (time < Infinity) clock.move(this.#arrival, time, rank.arrival)
    else this.#jobs = this.#count
  }

  #arrive(): void {
    this.#count++
    const { sizes, asked } = this.#spec
    const size = Math.max(1, Math.round(sizes.draw(this.#draws.sizes) * unitsPerSecond))
    const job = this.#jobOf(size)
    this.#world.submit(this.own ? this.own.estimate(job, size, asked?.last()) : job, size)
    if (this.#count < this.#jobs) this.#plan()
  }

  #jobOf(size: number): Job {
    const { known, errorSigma, memoryMb = 0, clients = 1 } = this.#spec
    const id = `j${this.#count}`
    if (known) return jobKnownAs(id, known(), this.#world.clock.now)
    const work = guess(size, errorSigma, this.#draws.errors)
    const low = Math.floor(work / this.#within)
    const high = Math.ceil(work * this.#within)
    const job: Job = { id, workload: 'sim', work, low, high, memoryMb }
    if (clients > 1) job.client = `c${this.#count % clients}`
    return job
  }

  #answered(truth: Truth, { outcome }: Extract<Action, { type: 'answer' }>, now: number): void {
    this.#ended++
    this.own?.ended(truth, outcome === 'result')
    const { warmup = 0 } = this.#spec
    if (warmup > 0 && Number(truth.job.id.slice(1)) <= warmup) return
    if (outcome === 'dropped') return void this.#answers.dropped++
    if (outcome !== 'result') return void this.#answers.refused++
    const sizeMs = truth.size / (unitsPerSecond / 1000)
    const responseMs = now - truth.arrivedAt
    this.#answers.add(sizeMs, responseMs)
    this.#hooks.answered?.(sizeMs, responseMs)
  }
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
