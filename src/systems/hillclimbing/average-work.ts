/**
 * HillClimbing's scaling, by the mean work of the workers. Every minute: one worker more above 70 % of the most that
 * one may have, one fewer below 30 %. A worker that is to go drains, and ends at a later look when it is empty. While
 * any worker is fresh, with no CPU reading or exactly 0, nothing is decided.
 */

import { backInto, hold, percentOf } from '../../brain/scale/bounds.ts'
import type {
  FleetView,
  ScaleDecision,
  ScaleOptions,
  Scaler,
  ScaleSteps,
  WorkerFigures,
} from '../../brain/scale/scaler.ts'
import { cappedDefaults } from './least-work-capped.ts'

export interface AverageWorkOptions extends ScaleOptions {
  /** The interval between decisions. */
  everyMs?: number
  /** The most work that a worker may have. */
  mostWork?: number
}

/** The interval between decisions. */
export const usualEveryMs = 60_000
const [above, below] = [0.7, 0.3]
/** The last worker stays while its CPU is above this. */
const busyCpu = 0.5

export function averageWork(spec: AverageWorkOptions): Scaler {
  const { min, max, everyMs = usualEveryMs, mostWork = cappedDefaults.mostWork } = spec
  let nextAt = 0
  let hasBegun = false
  let fresh: string[] = []

  const look = (view: FleetView): ScaleSteps => {
    const workers = view.workers()
    const unmarked = workers.filter(({ draining }) => !draining)
    fresh = unmarked.filter(isFresh).map(({ id }) => id)
    const end = workers
      .filter(({ draining, jobs }) => draining && jobs === 0)
      .map(({ id }) => ({ worker: id, reason: { code: 'drained' } }))
    const unknown = fresh.length + view.booting
    if (unknown > 0) return { end, reason: { code: 'fresh-workers', fresh: unknown } }
    return { end, ...stepFor({ min, max, mostWork }, unmarked) }
  }

  return {
    name: 'average-work',
    everyMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      if (!hasBegun && max > 0) {
        hasBegun = true
        if (have === 0 && min === 0) return launchOne({ code: 'first-worker' })
      }
      const outside = backInto(spec, view)
      if (outside) return outside
      if (have === 0 && view.waiting > 0 && max > 0)
        return launchOne({ code: 'nobody-there', waiting: view.waiting })
      if (now < nextAt) return hold(have)
      nextAt = now + everyMs
      return { kind: 'steps', ...look(view) }
    },
    figures: () => ({ fresh: fresh.length, mostWork }),
    figuresOf: (worker) => ({ fresh: fresh.includes(worker) }),
  }
}

function stepFor(
  { min, max, mostWork }: { min: number; max: number; mostWork: number },
  workers: readonly WorkerFigures[],
): ScaleSteps {
  const have = workers.length
  const enough = { reason: { code: 'enough', have } }
  if (have === 0) return enough
  const work = workers.reduce((sum, worker) => sum + worker.work, 0) / have
  const facts = { code: 'average-work', work: Math.round(work), percent: percentOf(work / mostWork) }
  if (work > above * mostWork && have < max) {
    const reason = { ...facts, bound: above * 100, have, to: have + 1 }
    return { reason, launch: { count: 1, reason } }
  }
  const least = workers.reduce((a, b) => (hasLess(b, a) ? b : a))
  const mayGo = have > 1 || least.cpu! < busyCpu
  if (!(work < below * mostWork && have > min && mayGo)) return enough
  const reason = { ...facts, bound: below * 100, have, to: have - 1 }
  return { reason, drain: [{ worker: least.id, reason }] }
}

/** A worker has a reading once its CPU was polled twice. One that is up uses some CPU, even while it is idle. */
function isFresh({ cpu }: WorkerFigures): boolean {
  return cpu === null || cpu === 0
}

/** Of equals the younger counts as less. */
function hasLess(a: WorkerFigures, b: WorkerFigures): boolean {
  return a.work < b.work || (a.work === b.work && a.number > b.number)
}

function launchOne(reason: ScaleSteps['reason']): ScaleDecision {
  return { kind: 'steps', reason, launch: { count: 1, reason } }
}
