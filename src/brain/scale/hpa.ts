/** Kubernetes' horizontal pod autoscaler on CPU utilisation, with its defaults. A baseline that ignores what jobs cost. */

import { backInto, hold, percentOf, replaceLost, type TargetOptions, targetOf, within } from './bounds.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'

/** A ratio this close to 1 changes nothing. */
const tolerance = 0.1
/** One sync adds at most this many workers, or doubles the fleet, whichever is more. */
const mostAdded = 4

/** Times; each default is that of Kubernetes. */
export interface HpaOptions extends TargetOptions {
  /** The interval of decisions. Default: 15 s. */
  syncMs?: number
  /** The fleet shrinks to the highest recommendation of this window. Default: 5 min. */
  stabiliseDownMs?: number
}

export function hpa(spec: HpaOptions): Scaler {
  const target = targetOf(spec, 0.7)
  const { syncMs = 15_000, stabiliseDownMs = 300_000 } = spec
  /** Recommendations of the last `stabiliseDownMs`. */
  let recommended: { at: number; workers: number }[] = []
  let wanted: number | null = null
  let nextAt = 0
  const utilisation = new Utilisation()

  const stabilised = (workers: number, have: number, now: number): number => {
    recommended = recommended.filter(({ at }) => at > now - stabiliseDownMs)
    recommended.push({ at: now, workers })
    let to = workers
    if (to < have) to = Math.min(have, Math.max(...recommended.map((one) => one.workers)))
    if (to > have) to = Math.min(to, Math.max(have + mostAdded, have * 2))
    return within(spec, to)
  }

  return {
    name: 'hpa',
    everyMs: syncMs,
    decide(view, now): ScaleDecision {
      const outside = backInto(spec, view)
      if (outside) return outside
      const have = view.ready + view.booting
      if (now < nextAt && !(have === 0 && view.jobs > 0)) return replaceLost(have, wanted)
      nextAt = now + syncMs
      const found = recommend(view, utilisation.since(view), target)
      if (!found) return hold(have)
      wanted = stabilised(found.workers, have, now)
      if (wanted === have) return hold(have)
      const { percent } = found
      const reason = { code: 'utilisation', percent, target: percentOf(target), have, to: wanted }
      return { kind: 'scale', to: wanted, reason }
    },
  }
}

/** The mean utilisation since the previous sync. */
class Utilisation {
  #busyMs = 0
  #coreMs = 0

  /** Undefined: no core was ready. */
  since({ busyMs, coreMs }: FleetView): number | undefined {
    const [busy, cores] = [busyMs - this.#busyMs, coreMs - this.#coreMs]
    this.#busyMs = busyMs
    this.#coreMs = coreMs
    return cores > 0 ? busy / cores : undefined
  }
}

function recommend(
  { ready, booting, jobs }: FleetView,
  use: number | undefined,
  target: number,
): { workers: number; percent: number } | undefined {
  const have = ready + booting
  // An empty fleet has no utilisation; the first job launches one worker.
  if (have === 0) return jobs > 0 ? { workers: 1, percent: 0 } : undefined
  if (use === undefined || ready === 0) return undefined
  const percent = percentOf(use)
  const ratio = use / target
  if (Math.abs(ratio - 1) <= tolerance) return { workers: have, percent }
  if (ratio < 1) return { workers: Math.ceil(ratio * ready), percent }
  // Booting workers count as idle, which may bring the ratio back within the tolerance.
  const damped = (ratio * ready) / have
  if (damped <= 1 + tolerance) return { workers: have, percent }
  return { workers: Math.ceil(damped * have), percent }
}
