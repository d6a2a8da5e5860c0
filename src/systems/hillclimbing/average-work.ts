/**
 * By the work that workers have on average, looked at every minute: one more above 70 % of what one may have, one fewer
 * below 30 %. Who is to go is marked, gets nothing more, and ends at a later look when it runs nothing. While a worker
 * is fresh, for nobody knows its CPU yet, nothing is decided.
 */

import { backInto, hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, Scaler, ScaleSteps, WorkerFigures } from '../../brain/scale/scaler.ts'
import type { ScaleSpec } from '../scalers.ts'

const [usualEveryMs, usualMostWork] = [60_000, 500_000_000]
const [above, below] = [0.7, 0.3]
/** The last one stays while it is busier than this. */
const busyCpu = 0.5

interface State {
  nextAt: number
  /** The first worker was launched. */
  begun: boolean
  fresh: string[]
}

export function averageWork(spec: ScaleSpec): Scaler {
  const { min, max, everyMs = usualEveryMs, mostWork = usualMostWork } = spec
  let state: State = { nextAt: 0, begun: false, fresh: [] }

  const look = (view: FleetView): ScaleSteps => {
    const workers = view.workers()
    const marked = workers.filter(({ draining }) => draining)
    const unmarked = workers.filter(({ draining }) => !draining)
    state.fresh = unmarked.filter(isFresh).map(({ id }) => id)
    const end = marked
      .filter(({ jobs }) => jobs === 0)
      .map(({ id }) => ({ worker: id, reason: { code: 'drained' } }))
    const fresh = state.fresh.length + view.booting
    if (fresh > 0) return { end, reason: { code: 'fresh-workers', fresh } }
    return { end, ...byWork(unmarked) }
  }

  const byWork = (unmarked: WorkerFigures[]): ScaleSteps => {
    const have = unmarked.length
    const enough = { reason: { code: 'enough', have } }
    if (have === 0) return enough
    const work = unmarked.reduce((sum, worker) => sum + worker.work, 0) / have
    const facts = {
      code: 'average-work',
      work: Math.round(work),
      percent: Math.round((work / mostWork) * 100),
    }
    if (work > above * mostWork && have < max) {
      const reason = { ...facts, bound: above * 100, have, to: have + 1 }
      return { reason, launch: { count: 1, reason } }
    }
    const least = unmarked.reduce((a, b) => (isLess(b, a) ? b : a))
    const mayGo = have > 1 || least.cpu! < busyCpu
    if (!(work < below * mostWork && have > min && mayGo)) return enough
    const reason = { ...facts, bound: below * 100, have, to: have - 1 }
    return { reason, drain: [{ worker: least.id, reason }] }
  }

  return {
    name: 'average-work',
    everyMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      if (!state.begun && max > 0) {
        state.begun = true
        if (have === 0 && min === 0) return launchOne({ code: 'first-worker' })
      }
      const outside = backInto(spec, view)
      if (outside) return outside
      if (have === 0 && view.waiting > 0 && max > 0)
        return launchOne({ code: 'nobody-there', waiting: view.waiting })
      if (now < state.nextAt) return hold(have)
      state.nextAt = now + everyMs
      return { kind: 'steps', ...look(view) }
    },
    tells: () => ({ fresh: state.fresh.length, mostWork }),
    tellsOf: (worker) => ({ fresh: state.fresh.includes(worker) }),
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}

/** What boots is no worker yet; what has joined is fresh until it was looked at twice. */
function isFresh({ cpu }: WorkerFigures): boolean {
  return cpu === null
}

/** Among equals the youngest goes. */
function isLess(a: WorkerFigures, b: WorkerFigures): boolean {
  return a.work < b.work || (a.work === b.work && a.number > b.number)
}

function launchOne(reason: ScaleSteps['reason']): ScaleDecision {
  return { kind: 'steps', reason, launch: { count: 1, reason } }
}
