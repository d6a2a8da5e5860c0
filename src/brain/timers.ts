/** The brain's timers. It asks its driver for one wake-up at a time: that of the earliest timer. */

import type { Entry } from '../lib/heap.ts'
import type { Core } from './core.ts'
import type { Timer } from './timer.ts'

/** Timers of the same time fire in the order in which they were set. */
export function setTimer(core: Core, timer: Timer, at: number): Entry<Timer> {
  return core.timers.push(timer, at, ++core.seqs.timer)
}

/** Idempotent. Returns undefined, for the field that held the timer. */
export function clearTimer(core: Core, timer: Entry<Timer> | undefined): undefined {
  if (timer) core.timers.remove(timer)
  return undefined
}

export function fireDueTimers(core: Core): void {
  while (core.timers.topKey() <= core.now) {
    const { kind, id } = core.timers.pop()!
    core.hooks.timers[kind]!(core, id)
  }
}
