/** Decides how many small jobs a slot gets ahead, when another slot is worth its start, and when a job is not small after all. */

/** Work that a slot has ahead. More would wait behind a slow job; less would leave the slot idle between messages. */
const aheadMs = 4
const mostAhead = 64
/** Another slot starts if the jobs that wait would take the slots longer than this. */
const backlogMs = 20
/** Weight of the latest job in the usual duration. */
const weight = 0.05

/** Jobs that a slot may have at a time. `usualMs`: the usual duration of one. */
export function jobsAhead(usualMs: number): number {
  return Math.max(1, Math.min(mostAhead, Math.floor(aheadMs / usualMs)))
}

export function usualMsAfter(before: number, latestMs: number): number {
  return before + weight * (latestMs - before)
}

export interface SlotDemand {
  /** Jobs that no slot has yet. */
  waiting: number
  usualMs: number
  /** Slots in use, and slots that were asked for. */
  slots: number
  coming: number
  cores: number
}

export function needsSlot({ waiting, usualMs, slots, coming, cores }: SlotDemand): boolean {
  if (waiting === 0 || coming > 0 || slots >= cores) return false
  return slots === 0 || (waiting * usualMs) / slots > backlogMs
}

/** A job whose slot gets no core is given this time. */
const starvedMs = 1_000

/** `cpuMs`: what its process has used meanwhile. `isRunnable`: it has a core, or waits for one. */
export function isSlow(
  { ranMs, cpuMs, isRunnable }: { ranMs: number; cpuMs: number; isRunnable: boolean },
  limitMs: number,
): boolean {
  if (ranMs < limitMs) return false
  return cpuMs >= limitMs / 2 || !isRunnable || ranMs >= limitMs + starvedMs
}
