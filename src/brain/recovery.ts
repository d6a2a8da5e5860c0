/** What holds while a new brain is told what an earlier one had begun. */

import type { AttemptToken } from '../model/attempt.ts'
import type { Core } from './core.ts'
import type { WorkerRecord } from './state.ts'
import { clearTimer, setTimer } from './timers.ts'

/** What the leader before had begun may be claimed as after the death of an earlier brain. */
export function takeOver(core: Core, epoch: number): void {
  const { recovery, limits, now } = core
  if (!(epoch > core.epoch)) return
  core.epoch = epoch
  if (limits.recoverMs === 0) return
  recovery.isOver = false
  clearTimer(core, recovery.timer)
  recovery.timer = setTimer(core, { kind: 'recovery', id: 'end' }, now + limits.recoverMs)
}

/** True: a front may still claim this attempt, which an earlier brain began. */
export function mayBeClaimed({ recovery, epoch, jobs }: Core, token: AttemptToken): boolean {
  return !recovery.isOver && token.epoch < epoch && !jobs.has(token.job)
}

/** True: the record stands for a worker that has not joined. */
export function isAbsent({ recovery: { absent } }: Core, worker: WorkerRecord): boolean {
  return absent.size > 0 && absent.get(worker.id) === worker
}

export function claimKey({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch} ${job} ${attempt}`
}
