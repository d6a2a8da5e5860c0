/** How long jobs wait: for a core that is about to be free, for another try in a function, and in the queue at all. */

import { type Core, setTimer } from '../core.ts'
import { sendAway } from '../functions/overflow.ts'
import { allBusy } from '../functions/overflow-state.ts'
import type { JobRecord } from '../state.ts'
import { conclude, place, wait } from './placing.ts'

/** What the job waits for is not there yet: a core that was about to be free, or the end of a pause. */
export function losePatience(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  record.patience = undefined
  core.waiting.remove(record)
  if (record.awayAt > 0) goAwayAgain(core, record)
  else place(core, record, true)
}

export function endPatience(core: Core, record: JobRecord): void {
  if (record.patience) core.timers.remove(record.patience)
  record.patience = undefined
}

/** After an attempt in a function that came to nothing, and may not the next time. */
export function waitForFunction(core: Core, record: JobRecord): void {
  const { awayTries: tries, awayAt: again } = record
  wait(core, record, { reason: { code: 'function-pause', tries }, again })
}

/** Where all functions are busy by then it is for the fleet: others would take whichever is free before it, again and again. */
function goAwayAgain(core: Core, record: JobRecord): void {
  const { most } = core.overflow!.spec.retries!
  if (allBusy(core.overflow!)) {
    record.awayAt = 0
    record.fleetOnly = true
    return place(core, record)
  }
  sendAway(core, record, { code: 'function-again', tries: record.awayTries + 1, most })
}

/** The attempt is in the queue. If it was before, and has not been out of it but to be placed, that goes on. */
export function beginWaiting(core: Core, record: JobRecord): void {
  const { waitMs } = core.limits
  if (waitMs > 0) record.waited ??= setTimer(core, { kind: 'waited', id: record.job.id }, core.now + waitMs)
}

export function endWaiting(core: Core, record: JobRecord): void {
  if (record.waited) core.timers.remove(record.waited)
  record.waited = undefined
}

/** An attempt has waited as long as one may. */
export function refuseWaiting(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  record.waited = undefined
  const { waitMs } = core.limits
  conclude(core, record, 'refused', { code: 'waited', waitMs, attempts: record.attempt })
}
