/** What a worker tells the brain of itself, besides its attempts. */

import type { SlotStarts } from '../model/worker.ts'
import type { OpenPrograms } from '../wire/programs.ts'
import type { OpenPool } from './open-pool.ts'

/** Why it cannot run jobs now, and its programs. */
export function poolState({ pool: { problem, programs } }: OpenPool): {
  problem?: string
  programs?: OpenPrograms
} {
  return { ...(problem !== undefined && { problem }), ...(programs && { programs }) }
}

/** What each report tells: also the memory of slots that run small jobs, and what the start of another slot costs. */
export function reportState(opened: OpenPool): ReturnType<typeof poolState> & {
  smallMb?: number
  slotStarts?: SlotStarts
} {
  const { direct, pool } = opened
  const smallMb = Math.ceil(direct?.jobs.memoryMb() ?? 0)
  return {
    ...(smallMb > 0 && { smallMb }),
    ...(pool.slotStarts && { slotStarts: pool.slotStarts }),
    ...poolState(opened),
  }
}
