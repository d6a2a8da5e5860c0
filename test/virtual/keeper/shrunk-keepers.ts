/** The events of a failing seed of keepers, with as few requests and faults as possible. */

import type { Plan } from './plan.ts'
import { shrunk } from './shrink.ts'

export async function shrunkLog(failing: Plan): Promise<string[]> {
  const { plan, lines, failures } = await shrunk(failing)
  const { requests, faults } = plan
  return [
    `seed ${failing.seed}, shrunk to ${requests.length} requests and ${faults.length} faults:`,
    ...lines,
    ...failures,
  ]
}
