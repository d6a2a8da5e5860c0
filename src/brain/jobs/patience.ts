/** Patience: a job may be queued until a given time, and is then placed whatever it waited for. */

import type { Concern, Core } from '../core.ts'
import { allBusy } from '../functions/overflow-state.ts'
import { sendToFunction } from '../functions/sending.ts'
import type { JobRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { place } from './placing.ts'

export const patience: Concern = {
  name: 'patience',
  queued(core, record, { again }) {
    endPatience(core, record)
    if (again !== undefined)
      record.patienceTimer = setTimer(core, { kind: 'patience', id: record.job.id }, again)
  },
  started: (core, { record }) => endPatience(core, record),
  over: endPatience,
  jobTimers: { patience: losePatience },
}

function endPatience(core: Core, record: JobRecord): void {
  record.patienceTimer = clearTimer(core, record.patienceTimer)
}

/** The core that was about to be free is not, or the pause before a retry is over. */
function losePatience(core: Core, record: JobRecord): void {
  record.patienceTimer = undefined
  core.queue.remove(record)
  if (record.functions && record.functions.retryAt > 0) retryInFunction(core, record)
  else place(core, record, true)
}

/** If all functions are busy, the job is for workers: other jobs would take each function that becomes free before it. */
function retryInFunction(core: Core, record: JobRecord): void {
  const functions = record.functions!
  if (allBusy(core.overflow!)) {
    functions.retryAt = 0
    functions.fleetOnly = true
    return place(core, record)
  }
  const { most } = core.overflow!.spec.retries!
  sendToFunction(core, record, { code: 'function-again', tries: functions.tries + 1, most })
}
