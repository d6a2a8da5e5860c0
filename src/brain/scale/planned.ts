/** As many workers as a plan says, launched so early that they are up in time. For what is known beforehand. */

import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { backInto, within } from './bounds.ts'
import type { ScaleDecision, Scaler } from './scaler.ts'

/** From then on, so many workers. */
export type PlanStep = readonly [atMs: number, workers: number]

const tickMs = 5000

export function planned(spec: ScaleSpec): Scaler {
  const plan = checkPlan(spec.plan)
  const bootMs = spec.bootMs ?? 60_000
  /** The first step that is still to come. */
  let next = 0

  return {
    name: 'planned',
    everyMs: tickMs,
    decide(view, now): ScaleDecision {
      while (next < plan.length && plan[next]![0] <= now) next++
      const have = view.ready + view.booting
      const current = plan[next - 1]?.[1] ?? spec.min
      // Whoever is needed by the time that it can be there is launched now.
      let wanted = current
      const until = now + (view.bootMs ?? bootMs) + tickMs
      for (let i = next; i < plan.length && plan[i]![0] <= until; i++) wanted = Math.max(wanted, plan[i]![1])
      wanted = within(spec, Math.max(wanted, view.jobs > 0 ? 1 : 0))
      if (wanted === have) return backInto(spec, view) ?? { kind: 'hold', reason: { code: 'enough', have } }
      return { kind: 'scale', to: wanted, reason: { code: 'planned', have, to: wanted } }
    },
    save: () => next,
    load(saved) {
      next = saved as number
    },
  }
}

function checkPlan(plan: readonly PlanStep[] = []): readonly PlanStep[] {
  for (const [i, [at, workers]] of plan.entries()) {
    if (!(at >= (plan[i - 1]?.[0] ?? 0)))
      throw new ConfigError(`scale.plan[${i}] = ${at}: must be milliseconds, not before the step before it`)
    if (!(Number.isInteger(workers) && workers >= 0))
      throw new ConfigError(`scale.plan[${i}] = ${workers}: must be a whole number of workers, 0 or more`)
  }
  return plan
}
