/** What a worker tells the brain of itself, besides its attempts. */

import type { OpenPrograms } from '../wire/programs.ts'
import type { OpenPool } from './open-pool.ts'

/** Why it cannot run jobs now, and its programs. */
export function poolState({ pool: { problem, programs } }: OpenPool): {
  problem?: string
  programs?: OpenPrograms
} {
  return { ...(problem !== undefined && { problem }), ...(programs && { programs }) }
}

/** Memory of slots that run small jobs. */
export function smallState({ direct }: OpenPool): { smallMb?: number } {
  const mb = Math.ceil(direct?.jobs.memoryMb() ?? 0)
  return mb > 0 ? { smallMb: mb } : {}
}
