/** Overflow of the queue: queued jobs go to functions when that becomes worth it. */

import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import { setTimer } from '../timers.ts'
import { allBusy } from './overflow-state.ts'
import { sendToFunction } from './sending.ts'
import { waitsForCore, worthFunction } from './worth.ts'

/** How many queued jobs are considered, in the queue's order, for one function. */
const considered = 32

export const overflow: Concern = {
  name: 'overflow',
  isActive: (core) => core.overflow !== undefined,
  queued: planLook,
  afterEvent(core) {
    if (core.overflow!.freed) sendQueuedToFunctions(core)
  },
  timers: {
    overflow(core) {
      core.overflow!.planned = false
      sendQueuedToFunctions(core)
      if (core.queue.size > 0) planLook(core)
    },
  },
}

/** Sends queued jobs to functions as long as that is worth it, in the queue's order. */
function sendQueuedToFunctions(core: Core): void {
  const functions = core.overflow!
  functions.freed = false
  while (core.queue.size > 0 && !allBusy(functions)) {
    let reason: Reason | undefined
    const record = core.queue.find((candidate) => {
      if (candidate.held || waitsForCore(core, candidate.patienceTimer !== undefined)) return false
      reason = worthFunction(core, candidate)
      return reason !== undefined
    }, considered)
    if (!record) return
    core.queue.remove(record)
    sendToFunction(core, record, reason!)
  }
}

function planLook(core: Core): void {
  const functions = core.overflow!
  if (functions.planned) return
  functions.planned = true
  setTimer(core, { kind: 'overflow', id: 'every' }, core.now + functions.spec.everyMs)
}
