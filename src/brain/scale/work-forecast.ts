/**
 * By predicted work. Arrivals are forecast over the time that a worker takes to boot, what a job costs is learned apart from
 * them, and work that waits is given the cores that it takes to be done within the promise.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { ArrivalRate, type SavedRate } from './arrival-rate.ts'
import { backInto, between, hold, within } from './bounds.ts'
import { MeanCost, type SavedCost } from './mean-cost.ts'
import { promiseOf } from './promise.ts'
import { Rhythm, type SavedRhythm } from './rhythm.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'
import { type SavedStrain, Strain } from './strain.ts'

/** Constants that were found on recorded days, for boots of a minute; see decisions/080-scaling.md. */
export interface Tuning {
  everyMs: number
  /** What arrivals are smoothed over, their trend, and what jobs cost. */
  levelMs: number
  trendMs: number
  memoryMs: number
  /** Work that waits is to be done within so long where a job may take half as long again. */
  drainMs: number
  /** So much of a worker too few is nothing to launch for: 0.5 takes the nearest whole one. */
  spare: number
  /** It shrinks when it has wanted to for so long, and keeps this margin, in square roots of the forecast cores. */
  calmMs: number
  keep: number
  /** Nobody has come for so long before the last worker goes. */
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
/** Where boots are quicker everything is: mistakes are mended sooner. These bound it. */
const [tunedBootMs, quickest, leastEveryMs, leastIdleMs] = [60_000, 1 / 20, 1000, 60_000]
/** From this much of the promise on the margin grows, and at the most by so much. */
const [strained, mostStrain] = [0.8, 3]

interface State {
  rate: SavedRate
  cost: SavedCost
  rhythm: SavedRhythm
  strain: SavedStrain
  at: number
  nextAt: number
  lastArrival: number
  bootMs: number
  level: number | null
  wanted: { at: number; workers: number }[]
}

interface Need {
  /** Cores for what will arrive, and for what waits; and for both, to launch for and to keep. */
  ahead: number
  extra: number
  grow: number
  keep: number
  waitingMs: number
  strain: number
}

export function workForecast(spec: ScaleSpec): Scaler {
  let tuning = pacedFor(spec.bootMs ?? guessedBootMs, spec)
  const promise = promiseOf(spec.promise)
  const slack = promise.largest.slowdown - 1
  const rate = new ArrivalRate(tuning.everyMs, tuning.levelMs, tuning.trendMs)
  const cost = new MeanCost(tuning.memoryMs)
  const rhythm = new Rhythm()
  const strain = new Strain(promise, tuning.memoryMs)
  const most = affordable(spec, promise.budgetPerHour)
  let state: Omit<State, 'rate' | 'cost' | 'rhythm' | 'strain'> = {
    ...{ at: 0, nextAt: 0, lastArrival: 0, level: null, wanted: [], bootMs: spec.bootMs ?? guessedBootMs },
  }

  const pace = (): void => {
    tuning = pacedFor(state.bootMs, spec)
    rate.pace(tuning.everyMs, tuning.levelMs, tuning.trendMs)
  }

  /** Jobs a second by the time that a worker launched now is up. */
  const arrivalsIn = (bootMs: number, now: number): number => {
    const trend = rate.ahead(bootMs / 1000)
    const daily = rhythm.ratio(now, bootMs)
    return daily === undefined ? trend : Math.max(trend, rate.level * daily)
  }

  const needOf = (view: FleetView, now: number): Need => {
    const bootMs = state.bootMs + tuning.everyMs
    const here = rate.level * cost.seconds
    const ahead = arrivalsIn(bootMs, now) * cost.seconds
    const present = view.present()
    const { waitingJobs } = present
    const waitingSeconds = cost.really(present.waitingSeconds, waitingJobs)
    // Until a new worker is up those that are there go on; of those that boot already, half of that time is theirs.
    const capacity = view.cores + (view.booting * view.coresEach) / 2
    const waiting = Math.max(0, waitingSeconds + (((here + ahead) / 2 - capacity) * bootMs) / 1000)
    const extra = Math.min((waiting * 1000) / (tuning.drainMs * slack * 2), waitingJobs)
    const tight = Math.max(0, 0.4 * (0.5 / slack - 1))
    const over = Math.min(mostStrain, Math.max(0, strain.value - strained) * 2)
    const margin = tight + over
    const most = Math.max(here, ahead)
    return {
      ahead,
      extra,
      grow: ahead + margin * Math.sqrt(ahead) + extra,
      keep: most + (tuning.keep + margin) * Math.sqrt(most) + extra,
      waitingMs: Math.round(waitingSeconds * 1000),
      strain: strain.value,
    }
  }

  /** The least number of workers that there is a use for. */
  const least = (view: FleetView, now: number): number => {
    if (view.jobs > 0) return 1
    return now - state.lastArrival < tuning.idleMs ? Math.min(1, view.ready + view.booting) : 0
  }

  const look = (now: number): void => {
    const ms = now - state.at
    state.at = now
    // A crowd is looked at in between.
    if (now >= state.nextAt) state.nextAt = now + tuning.everyMs
    if (ms <= 0) return
    rhythm.add(rate.next(ms), ms, now)
    cost.age(ms)
    strain.age(ms)
  }

  return {
    name: 'work-forecast',
    get everyMs() {
      return tuning.everyMs
    },
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      const outside = backInto({ ...spec, max: most }, view)
      if (outside) return outside
      if (view.bootMs !== undefined && view.bootMs !== state.bootMs) {
        state.bootMs = view.bootMs
        pace()
      }
      const { surges } = rate
      const due = now >= state.nextAt || surges
      if (!due && !(have === 0 && view.jobs > 0)) {
        return between(have, state.level)
      }
      if (due) look(now)
      const need = needOf(view, now)
      const workersFor = (cores: number) => Math.ceil(cores / view.coresEach - tuning.spare)
      state.wanted = state.wanted.filter(({ at }) => at > now - tuning.calmMs)
      state.wanted.push({ at: now, workers: workersFor(need.keep) })
      const kept = Math.max(...state.wanted.map(({ workers }) => workers))
      const wanted = Math.max(workersFor(need.grow), Math.min(have, kept), least(view, now))
      const to = within({ ...spec, max: most }, wanted)
      state.level = to
      if (to === have) return hold(have)
      return { kind: 'scale', to, reason: reasonFor(need, surges, have, to) }
    },
    arrived(seconds, now) {
      state.lastArrival = now
      cost.arrived(seconds)
      return rate.add()
    },
    finished({ seconds, expected, hereMs, late }) {
      cost.finished(seconds, expected)
      strain.finished(seconds, hereMs, late)
    },
    save: (): State => ({
      ...state,
      ...{ rate: rate.save(), cost: cost.save(), rhythm: rhythm.save(), strain: strain.save() },
    }),
    load(saved) {
      const {
        rate: savedRate,
        cost: savedCost,
        rhythm: savedRhythm,
        strain: savedStrain,
        ...rest
      } = saved as State
      rate.load(savedRate)
      cost.load(savedCost)
      rhythm.load(savedRhythm)
      strain.load(savedStrain)
      state = structuredClone(rest)
      pace()
    },
  }
}

function pacedFor(bootMs: number, { tuning }: ScaleSpec): Tuning {
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

function affordable({ min, max, pricePerHour = 0 }: ScaleSpec, budgetPerHour: number | undefined): number {
  if (budgetPerHour === undefined) return max
  if (!(pricePerHour > 0))
    throw new ConfigError(
      `scale.pricePerHour = ${pricePerHour}: must be above 0 where the promise has a budget`,
    )
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
