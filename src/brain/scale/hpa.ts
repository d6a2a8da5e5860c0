/** Kubernetes' horizontal pod autoscaler, on CPU utilisation, with its defaults. A baseline: it knows nothing of the jobs. */

import type { ScaleSpec } from '../../systems/scalers.ts'
import { backInto, between, hold, targetOf, within } from './bounds.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'

const syncMs = 15_000
/** Ratios so near to 1 change nothing. */
const tolerance = 0.1
/** It shrinks to the most that it found right during this time. */
const stabiliseDownMs = 300_000
/** In one sync it adds at most so many pods, or doubles, whichever is more. */
const mostAdded = 4

interface State {
  /** Its decisions of late: none is forgotten before `stabiliseDownMs`. */
  recommended: { at: number; workers: number }[]
  busyMs: number
  coreMs: number
  wanted: number | null
  nextAt: number
}

export function hpa(spec: ScaleSpec): Scaler {
  const target = targetOf(spec, 0.7)
  let state: State = { recommended: [], busyMs: 0, coreMs: 0, wanted: null, nextAt: 0 }

  /** What the mean utilisation since the last sync asks for. */
  const recommend = (view: FleetView): { workers: number; percent: number } | undefined => {
    const [busyMs, coreMs] = [view.busyMs - state.busyMs, view.coreMs - state.coreMs]
    state.busyMs = view.busyMs
    state.coreMs = view.coreMs
    const have = view.ready + view.booting
    // It cannot tell anything of none; one is launched for whoever waits.
    if (have === 0) return view.jobs > 0 ? { workers: 1, percent: 0 } : undefined
    if (!(coreMs > 0) || view.ready === 0) return undefined
    const use = busyMs / coreMs
    const percent = Math.round(use * 100)
    const ratio = use / target
    if (Math.abs(ratio - 1) <= tolerance) return { workers: have, percent }
    if (ratio < 1) return { workers: Math.ceil(ratio * view.ready), percent }
    // Those that boot are taken to do nothing yet, which may well turn the answer round.
    const damped = (ratio * view.ready) / have
    if (damped <= 1 + tolerance) return { workers: have, percent }
    return { workers: Math.ceil(damped * have), percent }
  }

  return {
    name: 'hpa',
    everyMs: syncMs,
    decide(view, now): ScaleDecision {
      const outside = backInto(spec, view)
      if (outside) return outside
      const have = view.ready + view.booting
      if (now < state.nextAt && !(have === 0 && view.jobs > 0)) {
        return between(have, state.wanted)
      }
      state.nextAt = now + syncMs
      const found = recommend(view)
      if (!found) return hold(have)
      const { percent } = found
      state.recommended = state.recommended.filter(({ at }) => at > now - stabiliseDownMs)
      state.recommended.push({ at: now, workers: found.workers })
      let workers = found.workers
      if (workers < have) workers = Math.min(have, Math.max(...state.recommended.map((one) => one.workers)))
      if (workers > have) workers = Math.min(workers, Math.max(have + mostAdded, have * 2))
      workers = within(spec, workers)
      state.wanted = workers
      if (workers === have) return hold(have)
      const reason = { code: 'utilisation', percent, target: Math.round(target * 100), have, to: workers }
      return { kind: 'scale', to: workers, reason }
    },
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}
