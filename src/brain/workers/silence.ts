/** Heartbeats: a worker that misses too many of them, or leaves too many pings unanswered, is lost. */

import type { Concern, Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { lose } from './leaving.ts'

export const silence: Concern = {
  name: 'silence',
  isActive: ({ limits }) => limits.pings !== null || limits.beatMs > 0,
  joined: watch,
  reported(core, worker) {
    // It is no longer new, so less silence is tolerated.
    if (worker.reports === 1 && !core.limits.pings) watch(core, worker)
  },
  timers: { silence: checkSilence },
}

/** Sets the timer for when the worker has been silent for too long, or must have answered its first ping. */
function watch(core: Core, worker: WorkerRecord): void {
  const { pings } = core.limits
  clearTimer(core, worker.silenceTimer)
  if (pings) {
    worker.pingedAt = core.now + pings.everyMs
    plan(core, worker, worker.pingedAt + pings.answerMs)
  } else plan(core, worker, silentAt(core, worker))
}

function checkSilence(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (!worker) return
  worker.silenceTimer = undefined
  if (core.limits.pings) return checkPing(core, worker)
  if (silentAt(core, worker) <= core.now)
    lose(core, id, { code: 'silent', silentMs: core.now - worker.lastSeenAt })
  else watch(core, worker)
}

/** The time to answer the last ping is over. */
function checkPing(core: Core, worker: WorkerRecord): void {
  const { everyMs, answerMs, most, mostFresh } = core.limits.pings!
  worker.unanswered = worker.lastSeenAt >= worker.pingedAt ? 0 : worker.unanswered + 1
  const limit = worker.reports === 0 ? mostFresh : most
  if (worker.unanswered >= limit)
    return lose(core, worker.id, { code: 'pings', unanswered: worker.unanswered, everyMs, answerMs })
  worker.pingedAt += everyMs
  plan(core, worker, worker.pingedAt + answerMs)
}

function plan(core: Core, worker: WorkerRecord, at: number): void {
  worker.silenceTimer = setTimer(core, { kind: 'silence', id: worker.id }, at)
}

function silentAt(core: Core, worker: WorkerRecord): number {
  const { beatMs, missedBeats, freshMs } = core.limits
  const usual = beatMs * missedBeats
  return worker.lastSeenAt + (worker.reports === 0 ? Math.max(freshMs, usual) : usual)
}
