/**
 * By CPU, on average over the workers, looked at every minute: above 85 % a tenth more, below 15 % a tenth fewer, those
 * with the lowest CPU. They get nothing more, and end together when all of them have no work left; until then nothing
 * else is decided.
 */

import { backInto, hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, Scaler, ScaleSteps, WorkerFigures } from '../../brain/scale/scaler.ts'
import type { ScaleSpec } from '../scalers.ts'

const [usualEveryMs, usualCheckMs] = [60_000, 1000]
const [above, below, part] = [0.85, 0.15, 0.1]

interface State {
  nextAt: number
  /** Those that are to end together. */
  batch: string[]
  cpu: number | null
}

export function cpuStep(spec: ScaleSpec): Scaler {
  const { min, max, everyMs = usualEveryMs, checkMs = Math.min(usualCheckMs, everyMs) } = spec
  let state: State = { nextAt: 0, batch: [], cpu: null }

  /** A worker that an operator, or its own end, drains is a batch of one. */
  const finish = (view: FleetView): ScaleSteps | undefined => {
    const draining = view.workers().filter((worker) => worker.draining)
    const batch = draining.filter(({ id }) => state.batch.includes(id))
    const others = draining.filter(({ id, jobs }) => jobs === 0 && !state.batch.includes(id))
    const isDone = batch.every(({ jobs }) => jobs === 0)
    const ending = isDone ? [...batch, ...others] : others
    state.batch = isDone ? [] : batch.map(({ id }) => id)
    if (ending.length === 0) return undefined
    const reason = { code: 'drained', together: ending.length }
    return { reason, end: ending.map(({ id }) => ({ worker: id, reason })) }
  }

  const look = (workers: WorkerFigures[]): ScaleSteps => {
    const have = workers.length
    const known = workers.filter(({ cpu }) => cpu !== null)
    state.cpu = known.length === 0 ? null : known.reduce((sum, { cpu }) => sum + cpu!, 0) / known.length
    if (state.cpu === null) return { reason: { code: 'no-cpu' } }
    const step = Math.ceil(have * part)
    const facts = { code: 'cpu-step', percent: Math.round(state.cpu * 100), have }
    if (state.cpu > above && have < max) {
      const count = Math.min(step, max - have)
      const reason = { ...facts, bound: above * 100, to: have + count }
      return { reason, launch: { count, reason } }
    }
    if (state.cpu < below && have > min) {
      const count = Math.min(step, have - min)
      const reason = { ...facts, bound: below * 100, to: have - count }
      const going = workers.toSorted(isLower).slice(0, count)
      state.batch = going.map(({ id }) => id)
      return { reason, drain: going.map(({ id }) => ({ worker: id, reason })) }
    }
    return { reason: { code: 'enough', have } }
  }

  return {
    name: 'cpu-step',
    everyMs: checkMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      // A batch of which none is left any more is done, too.
      const ending = view.draining + state.batch.length > 0 ? finish(view) : undefined
      if (ending) return { kind: 'steps', ...ending }
      const outside = backInto(spec, view)
      if (outside) return outside
      if (now < state.nextAt) return hold(have)
      // It goes on when what it began is done.
      if (view.booting > 0 || state.batch.length > 0)
        return {
          kind: 'hold',
          reason: { code: 'batch-under-way', workers: view.booting || state.batch.length },
        }
      state.nextAt = now + everyMs
      return { kind: 'steps', ...look(view.workers().filter(({ draining }) => !draining)) }
    },
    tells: () => ({ averageCpu: state.cpu, batch: state.batch.length }),
    tellsOf: (worker) => ({ onHold: state.batch.includes(worker) }),
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}

/** Of whose CPU nothing is known goes last; among equals who has least work, then the youngest. */
function isLower(a: WorkerFigures, b: WorkerFigures): number {
  return (a.cpu ?? 2) - (b.cpu ?? 2) || a.work - b.work || b.number - a.number
}
