/**
 * Scales by predicted work. It forecasts arrivals over a worker's boot time, learns the cost of a job separately, and
 * adds the cores that the backlog needs to be done within the promise.
 */

import { ConfigError } from '../../lib/errors.ts'
import { ArrivalRate } from './arrival-rate.ts'
import { backInto, hold, replaceLost, within } from './bounds.ts'
import { MeanCost } from './mean-cost.ts'
import { promiseOf } from './promise.ts'
import { Rhythm } from './rhythm.ts'
import type { FinishedJob, FleetView, ScaleDecision, ScaleOptions, Scaler } from './scaler.ts'
import { Strain } from './strain.ts'

export interface ForecastOptions extends ScaleOptions {
  /** What clients are promised, in words; see promise.ts. */
  promise?: string
  /** The price of a worker, required if the promise has a budget. */
  pricePerHour?: number
  /** Other constants, for experiments. */
  tuning?: Partial<Tuning>
}

/** Constants found on recorded days, for boots of a minute; see decisions/080-scaling.md. */
export interface Tuning {
  everyMs: number
  /** Smoothing times of arrivals, of their trend, and of what jobs cost. */
  levelMs: number
  trendMs: number
  memoryMs: number
  /** The backlog is to be done within this time where the promised slowdown is 1.5. */
  drainMs: number
  /** The fraction of a worker that is not worth a launch: 0.5 rounds to the nearest whole worker. */
  spare: number
  /** It shrinks after wanting to for this long, and keeps this margin, in square roots of the forecast cores. */
  calmMs: number
  keep: number
  /** The last worker ends after this long without arrivals. */
  idleMs: number
}

const usual: Tuning = {
  everyMs: 5000,
  levelMs: 90_000,
  trendMs: 300_000,
  memoryMs: 3_600_000,
  drainMs: 1_200_000,
  spare: 0.5,
  calmMs: 300_000,
  keep: 0.45,
  idleMs: 300_000,
}

/** Until a boot has been seen. */
const guessedBootMs = 60_000
/** With faster boots all times shrink, because mistakes are corrected sooner. These bound that. */
const [tunedBootMs, quickest, leastEveryMs, leastIdleMs] = [60_000, 1 / 20, 1000, 60_000]
/** The margin grows once this share of the promise is used, by at most this much. */
const [strained, mostStrain] = [0.8, 3]

interface Need {
  /** Cores for arrivals and for the backlog; cores to launch for, and cores to keep. */
  ahead: number
  extra: number
  grow: number
  keep: number
  waitingMs: number
  strain: number
}

export function workForecast(spec: ForecastOptions): Scaler {
  return new WorkForecast(spec)
}

class WorkForecast implements Scaler {
  readonly name = 'work-forecast'
  readonly #spec: ForecastOptions
  /** `spec` with the maximum that the budget pays for. */
  readonly #bounds: ScaleOptions
  #tuning: Tuning
  readonly #slack: number
  readonly #rate: ArrivalRate
  readonly #cost: MeanCost
  readonly #rhythm = new Rhythm()
  readonly #strain: Strain
  #at = 0
  #nextAt = 0
  #lastArrival = 0
  #bootMs: number
  #level: number | null = null
  /** Workers to keep, by recent decisions. */
  #wanted: { at: number; workers: number }[] = []

  constructor(spec: ForecastOptions) {
    this.#spec = spec
    this.#bootMs = spec.bootMs ?? guessedBootMs
    const tuning = pacedFor(this.#bootMs, spec)
    const promise = promiseOf(spec.promise)
    this.#tuning = tuning
    this.#slack = promise.largest.slowdown - 1
    this.#rate = new ArrivalRate(tuning.everyMs, tuning.levelMs, tuning.trendMs)
    this.#cost = new MeanCost(tuning.memoryMs)
    this.#strain = new Strain(promise, tuning.memoryMs)
    this.#bounds = { ...spec, max: affordable(spec, promise.budgetPerHour) }
  }

  get everyMs(): number {
    return this.#tuning.everyMs
  }

  decide(view: FleetView, now: number): ScaleDecision {
    const have = view.ready + view.booting
    const outside = backInto(this.#bounds, view)
    if (outside) return outside
    if (view.bootMs !== undefined && view.bootMs !== this.#bootMs) this.#pace(view.bootMs)
    const { surges } = this.#rate
    const due = now >= this.#nextAt || surges
    if (!due && !(have === 0 && view.jobs > 0)) return replaceLost(have, this.#level)
    if (due) this.#advance(now)
    const need = this.#needOf(view, now)
    const to = within(this.#bounds, this.#workersFor(need, view, now))
    this.#level = to
    if (to === have) return hold(have)
    return { kind: 'scale', to, reason: reasonFor(need, surges, have, to) }
  }

  arrived(seconds: number, now: number, unproven: boolean): boolean {
    this.#lastArrival = now
    this.#cost.arrived(seconds, unproven)
    return this.#rate.add()
  }

  finished({ seconds, expected, unproven, hereMs, late }: FinishedJob): void {
    this.#cost.finished(seconds, expected, unproven)
    this.#strain.finished(seconds, hereMs, late)
  }

  #pace(bootMs: number): void {
    this.#bootMs = bootMs
    this.#tuning = pacedFor(bootMs, this.#spec)
    const { everyMs, levelMs, trendMs } = this.#tuning
    this.#rate.pace(everyMs, levelMs, trendMs)
  }

  #advance(now: number): void {
    const ms = now - this.#at
    this.#at = now
    // A decision forced by a surge does not postpone the regular one.
    if (now >= this.#nextAt) this.#nextAt = now + this.#tuning.everyMs
    if (ms <= 0) return
    this.#rhythm.add(this.#rate.next(ms), ms, now)
    this.#cost.age(ms)
    this.#strain.age(ms)
  }

  #workersFor(need: Need, view: FleetView, now: number): number {
    const { spare, calmMs } = this.#tuning
    const workersFor = (cores: number) => Math.ceil(cores / view.coresEach - spare)
    this.#wanted = this.#wanted.filter(({ at }) => at > now - calmMs)
    this.#wanted.push({ at: now, workers: workersFor(need.keep) })
    const kept = Math.max(...this.#wanted.map(({ workers }) => workers))
    const have = view.ready + view.booting
    return Math.max(workersFor(need.grow), Math.min(have, kept), this.#least(view, now))
  }

  /** One worker while jobs are present or were recently. */
  #least({ jobs, ready, booting }: FleetView, now: number): number {
    if (jobs > 0) return 1
    return now - this.#lastArrival < this.#tuning.idleMs ? Math.min(1, ready + booting) : 0
  }

  #needOf(view: FleetView, now: number): Need {
    const tuning = this.#tuning
    const bootMs = this.#bootMs + tuning.everyMs
    const each = this.#cost.seconds
    const here = this.#rate.level * each
    const ahead = this.#arrivalsIn(bootMs, now) * each
    const present = view.present()
    const { waitingJobs } = present
    const waitingSeconds = this.#cost.really(present.waitingSeconds, waitingJobs)
    // Ready workers go on until a new one is up; those booting now contribute half of that time.
    const capacity = view.cores + (view.booting * view.coresEach) / 2
    const waiting = Math.max(0, waitingSeconds + (((here + ahead) / 2 - capacity) * bootMs) / 1000)
    const extra = Math.min((waiting * 1000) / (tuning.drainMs * this.#slack * 2), waitingJobs)
    const strain = this.#strain.value
    const tight = Math.max(0, 0.4 * (0.5 / this.#slack - 1))
    const margin = tight + Math.min(mostStrain, Math.max(0, strain - strained) * 2)
    const most = Math.max(here, ahead)
    return {
      ahead,
      extra,
      grow: ahead + margin * Math.sqrt(ahead) + extra,
      keep: most + (tuning.keep + margin) * Math.sqrt(most) + extra,
      waitingMs: Math.round(waitingSeconds * 1000),
      strain,
    }
  }

  /** Arrivals per second by the time that a worker launched now is ready. */
  #arrivalsIn(bootMs: number, now: number): number {
    const trend = this.#rate.ahead(bootMs / 1000)
    const daily = this.#rhythm.ratio(now, bootMs)
    return daily === undefined ? trend : Math.max(trend, this.#rate.level * daily)
  }
}

function pacedFor(bootMs: number, { tuning }: ForecastOptions): Tuning {
  const all = { ...usual, ...tuning }
  const pace = Math.min(1, Math.max(quickest, bootMs / tunedBootMs))
  return {
    ...all,
    everyMs: Math.max(leastEveryMs, all.everyMs * pace),
    levelMs: all.levelMs * pace,
    trendMs: all.trendMs * pace,
    drainMs: all.drainMs * pace,
    calmMs: all.calmMs * pace,
    idleMs: Math.max(leastIdleMs, all.idleMs * pace),
  }
}

function affordable(
  { min, max, pricePerHour = 0 }: ForecastOptions,
  budgetPerHour: number | undefined,
): number {
  if (budgetPerHour === undefined) return max
  if (!(pricePerHour > 0))
    throw new ConfigError(`scale.pricePerHour = ${pricePerHour}: must be above 0 if the promise has a budget`)
  const workers = Math.floor(budgetPerHour / pricePerHour)
  if (workers < Math.max(1, min))
    throw new ConfigError(
      `scale.promise = budget: ${budgetPerHour} an hour: must pay for ${Math.max(1, min)} workers at ${pricePerHour} an hour`,
    )
  return Math.min(max, workers)
}

function reasonFor({ ahead, extra, waitingMs, strain }: Need, surges: boolean, have: number, to: number) {
  const facts = { cores: tenths(ahead), extra: tenths(extra), waitingMs, have, to }
  if (to > have && surges) return { code: 'forecast-crowd', ...facts }
  if (to > have && strain > strained)
    return { code: 'forecast-strained', ...facts, percent: Math.round(strain * 100) }
  return { code: 'forecast', ...facts }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
