/**
 * Recovery after the death of an earlier brain: for a while, fronts claim attempts that workers hold, and workers join that run
 * attempts which fronts have claimed. Then what has not come together is ended or retried.
 */

import type { Concern, Core } from './core.ts'
import { endAttempt } from './jobs/attempts.ts'
import { fill } from './jobs/placing.ts'
import { retryAll } from './jobs/retry.ts'
import { setTimer } from './timers.ts'

export const recovering: Concern = {
  name: 'recovery',
  isActive: ({ limits }) => limits.recoverMs > 0,
  begins(core) {
    setTimer(core, { kind: 'recovery', id: 'begin' }, 0)
  },
  timers: {
    recovery(core, id) {
      if (id !== 'begin') return endRecovery(core)
      // The first tick comes when workers and fronts can join.
      core.recovery.timer = setTimer(core, { kind: 'recovery', id: 'end' }, core.now + core.limits.recoverMs)
    },
  },
}

function endRecovery(core: Core): void {
  const { recovery } = core
  recovery.isOver = true
  recovery.timer = undefined
  const occupied = [...core.workers.values()].filter(({ unclaimed }) => unclaimed)
  for (const worker of occupied) {
    for (const { epoch, job, attempt } of worker.unclaimed!.values()) {
      const reason = { code: 'unclaimed' }
      core.actions.push({ type: 'cancel', epoch, job, attempt, worker: worker.id, reason })
    }
    worker.unclaimed = undefined
    core.scheduler.refile(worker)
  }
  const attempts = [...recovery.absent.values()].flatMap(({ jobs }) => jobs)
  recovery.absent.clear()
  for (const attempt of attempts) endAttempt(core, attempt)
  retryAll(core, attempts, 'not-joined')
  for (const worker of occupied) fill(core, worker)
  core.rescale = true
}
