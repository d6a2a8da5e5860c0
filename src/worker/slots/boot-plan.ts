/** Decides how many slots boot now: a boot takes CPU time from the jobs that run, so an idle slot is worth waiting for. */

import type { SlotStarts } from '../../model/worker.ts'

export interface BootState {
  /** Jobs that could start if they had a slot. */
  waiting: number
  idle: number
  booting: number
  /** Number of idle slots to keep ready. */
  warm: number
  /** Maximum number of slots that boot at the same time. */
  most: number
  /** Usual duration of a boot; undefined: not measured yet. */
  bootMs: number | undefined
  /** Expected time until each running job ends and frees its slot. */
  remainingMs: readonly number[]
}

/** The number of slots to start. */
export function bootsNow({ waiting, idle, booting, warm, most, bootMs, remainingMs }: BootState): number {
  // Slots that become free before a boot that starts now would end.
  const freeSoon = bootMs === undefined ? 0 : remainingMs.filter((ms) => ms < bootMs).length
  const needed = Math.max(0, waiting - freeSoon) + warm
  return Math.max(0, Math.min(needed - idle - booting, most - booting))
}

/** `inUse`: slots that jobs have now. Undefined: no boot has been measured yet. */
export function slotStartsOf(
  inUse: number,
  idle: number,
  bootMs: number | undefined,
): SlotStarts | undefined {
  return bootMs === undefined ? undefined : { ready: inUse + idle, startMs: Math.round(bootMs) }
}

/** Weight of the latest boot in the usual duration. */
const weight = 0.3

export function usualBootMs(before: number | undefined, latestMs: number): number {
  return before === undefined ? latestMs : before + weight * (latestMs - before)
}
