/** What follows a pause of the brain itself: whatever it waits for from others gets as much more time. */

import type { Entry } from '../lib/heap.ts'
import type { Core } from './core.ts'
import type { Timer } from './timer.ts'

/** Heartbeats, pings, launches, answers and functions get more time. Timers of clients, such as deadlines, do not. */
export function notePause(core: Core, ms: number): void {
  const pausedMs = core.pauses.note(ms, core.now)
  if (pausedMs === 0) return
  for (const worker of core.workers.values()) {
    delay(core, worker.silenceTimer, pausedMs)
    worker.pings.at += pausedMs
    delay(core, worker.pings.timer, pausedMs)
    delay(core, worker.pings.heartbeat?.timer, pausedMs)
    for (const { timer } of worker.jobs) delay(core, timer, pausedMs)
  }
  for (const { timer } of core.overflow?.worker.jobs ?? []) delay(core, timer, pausedMs)
  for (const { timer } of core.launches.values()) delay(core, timer, pausedMs)
  delay(core, core.recovery.timer, pausedMs)
}

function delay({ timers, seqs }: Core, timer: Entry<Timer> | undefined, ms: number): void {
  if (timer && timer.at >= 0) timers.put(timer, timers.keyOf(timer) + ms, ++seqs.timer)
}
