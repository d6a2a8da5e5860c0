/** The queue timeout: an attempt that has waited for `waitMs` without being started is refused. */

import type { Concern, Core } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { conclude } from './ending.ts'

export const queueTimeout: Concern = {
  name: 'queue timeout',
  isActive: ({ limits }) => limits.waitMs > 0,
  /** A job that leaves the queue only to be placed again keeps its timer. The pause before a retry does not count. */
  queued(core, record) {
    if (record.held || (record.functions && record.functions.retryAt > 0)) return
    record.queueTimer ??= setTimer(core, { kind: 'queue', id: record.job.id }, core.now + core.limits.waitMs)
  },
  started: (core, { record }) => endWaiting(core, record),
  over: endWaiting,
  jobTimers: {
    queue(core, record) {
      record.queueTimer = undefined
      const { waitMs } = core.limits
      conclude(core, record, 'refused', { code: 'waited', waitMs, attempts: record.attempts })
    },
  },
}

function endWaiting(core: Core, record: JobRecord): void {
  record.queueTimer = clearTimer(core, record.queueTimer)
}
