/** Makes a failing plan smaller, as long as the same promise is broken. */

import { kindOf, leastOf } from '../shrink.ts'
import type { Plan } from './plan.ts'
import { runPlan } from './world.ts'

export interface Shrunk {
  plan: Plan
  /** What happened. */
  lines: string[]
  failures: string[]
}

export async function shrunk(failing: Plan): Promise<Shrunk> {
  const kind = kindOf((await runPlan(failing)).failures[0])
  const { requests, faults } = failing
  const without = (leftOut: ReadonlySet<number>): Plan => ({
    ...failing,
    requests: requests.filter((_, i) => !leftOut.has(i)),
    faults: faults.filter((_, i) => !leftOut.has(requests.length + i)),
  })
  const leftOut = await leastOf(requests.length + faults.length, async (each) => {
    const { failures } = await runPlan(without(each))
    return failures.length > 0 && kindOf(failures[0]) === kind
  })
  const plan = without(leftOut)
  const lines: string[] = []
  const { failures } = await runPlan(plan, lines)
  return { plan, lines, failures }
}
