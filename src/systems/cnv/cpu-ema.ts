/**
 * Goes by how busy the workers' cores were, smoothed: one more, or two, when that was high for a while and jobs wait, one
 * fewer when it was low for longer. It looks at the fleet every so often, and does all that it does then.
 */

import { hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, Scaler, ScaleSteps, WorkerFigures } from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../scalers.ts'

const usualEveryMs = 60_000
/** How much the newest figure counts. */
const newPart = 0.6
/** Above the first for so many looks in a row: more. Below the second for so many: fewer. */
const [above, looksAbove] = [0.85, 2]
const [below, looksBelow] = [0.2, 5]

interface State {
  nextAt: number
  /** Null: no figure yet. */
  ema: number | null
  /** Looks in a row. */
  above: number
  below: number
}

export function cpuEma(spec: ScaleSpec): Scaler {
  const { min, max, everyMs = usualEveryMs, workerWork = Infinity } = spec
  if (!(everyMs > 0 && everyMs < Infinity))
    throw new ConfigError(`scale.everyMs = ${everyMs}: must be above 0`)
  let state: State = { nextAt: 0, ema: null, above: 0, below: 0 }

  /** Who has no figure yet says nothing; where nobody has one, nothing is known. */
  const look = (workers: readonly WorkerFigures[]): void => {
    const known = workers.map(({ cpu }) => cpu).filter((cpu) => cpu !== null)
    if (known.length === 0) return
    const mean = known.reduce((sum, cpu) => sum + cpu, 0) / known.length
    const ema = state.ema === null ? mean : newPart * mean + (1 - newPart) * state.ema
    state.ema = ema
    state.above = ema > above ? state.above + 1 : 0
    state.below = ema < below ? state.below + 1 : 0
  }

  const stepsOf = (view: FleetView, workers: readonly WorkerFigures[]): ScaleSteps => {
    const have = view.ready + view.booting
    const percent = Math.round((state.ema ?? 0) * 100)
    const drained = workers.filter(({ draining, jobs }) => draining && jobs === 0)
    const end = drained.map(({ id }) => ({ worker: id, reason: { code: 'drained' } }))
    const steps: ScaleSteps = { reason: { code: 'cpu-within', percent }, end }
    if (have < min) {
      const reason = { code: 'below-min', have, min }
      return { ...steps, reason, launch: { count: min - have, reason } }
    }
    if (state.above >= looksAbove && view.waiting > 0 && have < max) {
      const launched = Math.min(max - have, view.waitingWork() > workerWork ? 2 : 1)
      const facts = { percent, above: above * 100, ticks: state.above, waiting: view.waiting, launched }
      const reason = { code: 'cpu-above', ...facts, have, to: have + launched }
      return { ...steps, reason, launch: { count: launched, reason } }
    }
    const least = state.below >= looksBelow && have > min ? leastLoaded(workers) : undefined
    if (!least) return steps
    const reason = { code: 'cpu-below', percent, below: below * 100, ticks: state.below, have, to: have - 1 }
    return { ...steps, reason, drain: [{ worker: least.id, reason }] }
  }

  return {
    name: 'cpu-ema',
    everyMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      if (now < state.nextAt) return hold(view.ready + view.booting)
      state.nextAt = now + everyMs
      const workers = view.workers()
      look(workers)
      return { kind: 'steps', ...stepsOf(view, workers) }
    },
    tells: () => ({
      emaPercent: state.ema === null ? null : Math.round(state.ema * 1000) / 10,
      looksAbove: state.above,
      looksBelow: state.below,
    }),
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}

/** Of those that are ready; among equals the youngest. */
function leastLoaded(workers: readonly WorkerFigures[]): WorkerFigures | undefined {
  return workers
    .filter(({ draining }) => !draining)
    .sort((a, b) => a.work - b.work || a.jobs - b.jobs || b.number - a.number)[0]
}
