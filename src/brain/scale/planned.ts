/** Follows a plan, and launches workers early enough to be ready in time. For load that is known in advance. */

import { ConfigError } from '../../lib/errors.ts'
import { backInto, within } from './bounds.ts'
import type { ScaleDecision, ScaleOptions, Scaler } from './scaler.ts'

export interface PlannedOptions extends ScaleOptions {
  plan?: readonly PlanStep[]
}

/** The number of workers from that time on. */
export type PlanStep = readonly [atMs: number, workers: number]

const tickMs = 5000

export function planned(spec: PlannedOptions): Scaler {
  const plan = checkPlan(spec.plan)
  const bootMs = spec.bootMs ?? 60_000
  /** The first step in the future. */
  let next = 0

  return {
    name: 'planned',
    everyMs: tickMs,
    decide(view, now): ScaleDecision {
      while (next < plan.length && plan[next]![0] <= now) next++
      const have = view.ready + view.booting
      const current = plan[next - 1]?.[1] ?? spec.min
      // Steps that are due before a worker launched later could be ready count already.
      let wanted = current
      const until = now + (view.bootMs ?? bootMs) + tickMs
      for (let i = next; i < plan.length && plan[i]![0] <= until; i++) wanted = Math.max(wanted, plan[i]![1])
      wanted = within(spec, Math.max(wanted, view.jobs > 0 ? 1 : 0))
      if (wanted === have) return backInto(spec, view) ?? { kind: 'hold', reason: { code: 'enough', have } }
      return { kind: 'scale', to: wanted, reason: { code: 'planned', have, to: wanted } }
    },
  }
}

function checkPlan(plan: readonly PlanStep[] = []): readonly PlanStep[] {
  for (const [i, [at, workers]] of plan.entries()) {
    if (!(at >= (plan[i - 1]?.[0] ?? 0)))
      throw new ConfigError(`scale.plan[${i}] = ${at}: must be milliseconds, not before the previous step`)
    if (!(Number.isInteger(workers) && workers >= 0))
      throw new ConfigError(`scale.plan[${i}] = ${workers}: must be a whole number of workers, 0 or more`)
  }
  return plan
}
