/**
 * By predicted work: arrivals are forecast over the time that a worker takes to boot, what a job costs is learned apart from
 * them, and work that waits is given so many cores that it is done within the promise.
 */

import { ArrivalRate, type SavedRate } from './arrival-rate.ts'
import { backInto, within } from './bounds.ts'
import type { ScaleSpec } from './index.ts'
import { MeanCost, type SavedCost } from './mean-cost.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'

export interface Tuning {
  everyMs: number
  levelMs: number
  trendMs: number
  memoryMs: number
  /** Cores above the forecast, times its square root. */
  margin: number
  /** Work that waits is to be done within so long. */
  drainMs: number
  /** So much of a core too few is nothing to launch for. */
  spare: number
  /** Before it shrinks it has wanted to for so long. */
  calmMs: number
  downMargin: number
  growth: number
}

export const usualTuning: Tuning = {
  everyMs: 5000,
  levelMs: 60_000,
  trendMs: 180_000,
  memoryMs: 3_600_000,
  margin: 0.3,
  drainMs: 60_000,
  spare: 0.5,
  calmMs: 120_000,
  downMargin: 0.3,
  growth: 1,
}

interface State {
  rate: SavedRate
  cost: SavedCost
  at: number
  wanted: { at: number; workers: number }[]
  nextAt: number
  level: number | null
}

export function workForecast(spec: ScaleSpec): Scaler {
  const tuning = { ...usualTuning, ...spec.tuning }
  const { everyMs } = tuning
  const rate = new ArrivalRate(everyMs, tuning.levelMs, tuning.trendMs)
  const cost = new MeanCost(tuning.memoryMs)
  let at = 0
  let nextAt = 0
  let level: number | null = null
  let wanted: State['wanted'] = []

  const needs = (view: FleetView) => {
    const { coresEach: each } = view
    const bootS = (view.bootMs ?? 60_000) / 1000 + everyMs / 1000
    const now = rate.ahead(0) * cost.seconds
    const ahead = rate.ahead(bootS) * cost.seconds
    const present = view.present()
    const coming = (view.booting * each) / 2
    const growing = ((now + ahead) / 2 - view.cores - coming) * bootS * tuning.growth
    const backlog = Math.max(0, present.waitingSeconds + growing)
    const extra = Math.min((backlog / tuning.drainMs) * 1000, present.waitingJobs)
    const up = ahead + tuning.margin * Math.sqrt(ahead) + extra
    const most = Math.max(now, ahead)
    const down = most + tuning.downMargin * Math.sqrt(most) + extra
    return { up, down, now, ahead, backlog, waiting: present.waitingSeconds }
  }

  return {
    name: 'work-forecast',
    everyMs,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      const outside = backInto(spec, view)
      if (outside) return outside
      const fromNone = have === 0 && view.jobs > 0
      if (now >= nextAt) {
        const ms = now - at
        at = now
        nextAt = now + everyMs
        if (ms > 0) {
          rate.next(ms)
          cost.age(ms)
        }
      } else if (!fromNone) {
        if (level === null || have >= level) return hold(have)
        return { kind: 'scale', to: level, reason: { code: 'replace', have, wanted: level } }
      }
      const { up, down, ahead, waiting } = needs(view)
      const each = view.coresEach
      const grow = Math.ceil((up - tuning.spare) / each)
      const keep = Math.ceil((down - tuning.spare) / each)
      wanted = wanted.filter((one) => one.at > now - tuning.calmMs)
      wanted.push({ at: now, workers: keep })
      let workers = have
      if (grow > have) workers = grow
      else workers = Math.min(have, Math.max(...wanted.map((one) => one.workers)))
      workers = within(spec, Math.max(workers, view.jobs > 0 || spec.min === 0 ? 1 : 1))
      level = workers
      if (workers === have) return hold(have)
      return {
        kind: 'scale',
        to: workers,
        reason: {
          code: 'forecast',
          cores: tenths(ahead),
          waitingMs: Math.round(waiting * 1000),
          have,
          to: workers,
        },
      }
    },
    arrived(seconds) {
      cost.arrived(seconds)
      return rate.add()
    },
    finished(seconds, expected) {
      cost.finished(seconds, expected)
    },
    save: (): State => ({ rate: rate.save(), cost: cost.save(), at, wanted, nextAt, level }),
    load(saved) {
      const state = structuredClone(saved as State)
      rate.load(state.rate)
      cost.load(state.cost)
      ;({ at, wanted, nextAt, level } = state)
    },
  }
}

function hold(have: number): ScaleDecision {
  return { kind: 'hold', reason: { code: 'enough', have } }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
