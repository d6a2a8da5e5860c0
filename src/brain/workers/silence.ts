/** Who is not heard of any more is lost: by reports that do not come, or by pings that are not answered. */

import { type Core, setTimer } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { lose } from './workers.ts'

/** Asks to be called when the worker has been silent for too long, if it says nothing until then; or to ping it. */
export function watch(core: Core, worker: WorkerRecord): void {
  const { pings, beatMs } = core.limits
  if (worker.silence) core.timers.remove(worker.silence)
  worker.silence = undefined
  if (pings) {
    worker.pingedAt = core.now + pings.everyMs
    setSilence(core, worker, worker.pingedAt + pings.answerMs)
  } else if (beatMs > 0) setSilence(core, worker, silentAt(core, worker))
}

/** Has the worker been silent for too long? */
export function checkSilence(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (!worker) return
  worker.silence = undefined
  if (core.limits.pings) return checkPing(core, worker)
  if (silentAt(core, worker) <= core.now)
    lose(core, id, { code: 'silent', silentMs: core.now - worker.heardAt })
  else watch(core, worker)
}

/** The time to answer the last ping is over. */
function checkPing(core: Core, worker: WorkerRecord): void {
  const { everyMs, answerMs, most, mostFresh } = core.limits.pings!
  worker.unanswered = worker.heardAt >= worker.pingedAt ? 0 : worker.unanswered + 1
  const limit = worker.reports === 0 ? mostFresh : most
  if (worker.unanswered >= limit)
    return lose(core, worker.id, { code: 'pings', unanswered: worker.unanswered, everyMs, answerMs })
  worker.pingedAt += everyMs
  setSilence(core, worker, worker.pingedAt + answerMs)
}

function setSilence(core: Core, worker: WorkerRecord, at: number): void {
  worker.silence = setTimer(core, { kind: 'silence', id: worker.id }, at)
}

function silentAt(core: Core, worker: WorkerRecord): number {
  const { beatMs, missedBeats, freshMs } = core.limits
  const usual = beatMs * missedBeats
  return worker.heardAt + (worker.reports === 0 ? Math.max(freshMs, usual) : usual)
}
