/** Makes a failing plan smaller, as long as the same promise is broken. */

import type { Plan } from './plan.ts'
import { runPlan } from './world.ts'

export interface Shrunk {
  plan: Plan
  /** What happened. */
  lines: string[]
  failures: string[]
}

export async function shrunk(failing: Plan): Promise<Shrunk> {
  const kind = kindOf((await runPlan(failing)).failures)
  let plan = failing
  for (const part of ['requests', 'faults'] as const) {
    for (let i = plan[part].length - 1; i >= 0; i--) {
      const smaller = { ...plan, [part]: plan[part].toSpliced(i, 1) }
      if (kindOf((await runPlan(smaller)).failures) === kind) plan = smaller
    }
  }
  const lines: string[] = []
  const { failures } = await runPlan(plan, lines)
  return { plan, lines, failures }
}

/** Without times, ids and numbers. */
function kindOf([first = '']: readonly string[]): string {
  return first.replaceAll(/[0-9a-z]{9}-[0-9a-f]{32}|\d+(\.\d+)?/g, '#').slice(0, 80)
}
