/** Knative's pod autoscaler, on jobs at the same time, with its defaults. A baseline: it knows nothing of what jobs cost. */

import type { ScaleSpec } from '../../systems/scalers.ts'
import { backInto, between, hold, targetOf, within } from './bounds.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'

const tickMs = 2000
const [stableMs, panicMs] = [60_000, 6000]
/** It panics where the short window asks for so many times what is ready, and is calm again a stable window later. */
const panicThreshold = 2
/** It grows at most to so many times what is ready at once, and shrinks at most to this part of it. */
const [mostUp, mostDown] = [1000, 2]
/** How long nobody must have been there before the last worker goes. */
const graceMs = 30_000

interface State {
  samples: { at: number; jobMs: number }[]
  panicUntil: number
  /** The most that was wanted during the panic. */
  panicked: number
  wanted: number | null
  nextAt: number
  idleSince: number | null
}

/** `target`: the share of a worker's cores that its jobs are to take; 0.7 is the default there. */
export function kpa(spec: ScaleSpec): Scaler {
  const target = targetOf(spec, 0.7)
  let state: State = { samples: [], panicUntil: -1, panicked: 0, wanted: null, nextAt: 0, idleSince: null }

  /** Jobs at the same time, on average over the last `ms`, or as long as anything is known. */
  const concurrency = (ms: number, view: FleetView, now: number): number => {
    const first = state.samples.find(({ at }) => at >= now - ms)
    return first && first.at < now ? (view.jobMs - first.jobMs) / (now - first.at) : view.jobs
  }

  return {
    name: 'kpa',
    everyMs: tickMs,
    decide(view, now): ScaleDecision {
      const outside = backInto(spec, view)
      if (outside) return outside
      const { ready, jobs } = view
      const have = ready + view.booting
      const fromNone = have === 0 && jobs > 0
      if (now < state.nextAt && !fromNone) {
        return between(have, state.wanted)
      }
      state.nextAt = now + tickMs
      state.samples = state.samples.filter(({ at }) => at >= now - stableMs)
      const each = target * view.coresEach
      const stable = Math.ceil(concurrency(stableMs, view, now) / each)
      const panic = Math.ceil(concurrency(panicMs, view, now) / each)
      state.samples.push({ at: now, jobMs: view.jobMs })
      const base = Math.max(1, ready)
      if (panic >= panicThreshold * base) {
        if (now >= state.panicUntil) state.panicked = have
        state.panicUntil = now + stableMs
      }
      const panics = now < state.panicUntil
      let workers = Math.max(stable, Math.floor(base / mostDown))
      if (panics) {
        state.panicked = Math.max(state.panicked, stable, panic)
        workers = state.panicked
      }
      workers = Math.min(Math.max(workers, fromNone ? 1 : 0), base * mostUp)
      if (jobs > 0 || stable > 0) state.idleSince = null
      else state.idleSince ??= now
      if (workers === 0 && (state.idleSince === null || now < state.idleSince + graceMs))
        workers = Math.min(1, have)
      workers = within(spec, workers)
      state.wanted = workers
      if (workers === have) return hold(have)
      const code = panics ? 'concurrency-panic' : 'concurrency'
      return {
        kind: 'scale',
        to: workers,
        reason: { code, jobs: panics ? panic * each : stable * each, each, have, to: workers },
      }
    },
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}
