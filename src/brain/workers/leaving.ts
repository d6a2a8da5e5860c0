/** How workers leave: they drain, are lost, or are ended. */

import type { Event } from '../../model/event.ts'
import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import { endAttempt } from '../jobs/attempts.ts'
import { place } from '../jobs/placing.ts'
import { retryAll } from '../jobs/retry.ts'
import type { WorkerRecord } from '../state.ts'
import { clearTimer } from '../timers.ts'
import { countReady } from './capacity.ts'

/**
 * Someone else reports the worker lost. With pings, only they decide, unless the loss is certain; until its next report
 * it is suspect.
 */
export function reportLost(core: Core, id: string, reason: Reason, certain = false): void {
  if (!core.limits.pings || certain) return lose(core, id, reason)
  const worker = core.workers.get(id)
  if (!worker) return
  worker.suspect = true
  core.scheduler.refile(worker)
}

/** The worker may reconnect. If it falls silent, its closed connection is evidence against it. */
export function noteDisconnected(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (worker) worker.unreachable = true
}

/** Declares the worker lost: its jobs are retried elsewhere, and it is terminated in case it still exists. */
export function lose(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (!worker) return
  // A draining worker need not be replaced.
  if (worker.state === 'ready') core.scaler.lost?.(id, core.now, worker.role)
  core.rescale = true
  for (const job of worker.brokenJobs) {
    const record = core.jobs.get(job)
    if (record) record.losses++
  }
  retryElsewhere(core, worker, reason, 'worker-lost')
}

/** Terminates the worker now; its jobs are retried elsewhere. */
export function end(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (worker) retryElsewhere(core, worker, reason, 'worker-ended')
}

export function drain(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (worker?.state !== 'ready') return
  countReady(core, worker, -1)
  worker.state = 'draining'
  core.draining.add(worker)
  forgetEjection(core, worker)
  core.scheduler.refile(worker)
  core.actions.push({ type: 'drain', worker: id, reason })
  replaceExcludedJobs(core)
}

/** Draining workers that are empty are terminated, unless the scaler does that. */
export const draining: Concern = {
  name: 'draining',
  isActive: ({ scaler }) => !scaler.endsDrained,
  afterEvent(core) {
    for (const worker of core.draining) {
      const isBusy =
        worker.jobs.length > 0 || worker.unclaimed || core.through.has(worker.id) || core.held.has(worker.id)
      if (!isBusy) remove(core, worker, { code: 'drained' })
    }
  },
}

/** A worker that drains waits for requests that fronts have sent there without asking. */
export function hold(core: Core, { worker, held }: Extract<Event, { type: 'held' }>): void {
  if (held) core.held.add(worker)
  else core.held.delete(worker)
}

function retryElsewhere(
  core: Core,
  worker: WorkerRecord,
  reason: Reason,
  cause: 'worker-lost' | 'worker-ended',
): void {
  const attempts = worker.jobs
  remove(core, worker, reason)
  for (const attempt of attempts) endAttempt(core, attempt)
  retryAll(core, attempts, cause)
  replaceExcludedJobs(core)
}

/** With fewer workers available, a job may have to go back to a worker that failed it. */
export function replaceExcludedJobs(core: Core): void {
  for (const record of core.queue.excluding()) {
    core.queue.remove(record)
    place(core, record)
  }
}

function remove(core: Core, worker: WorkerRecord, reason: Reason): void {
  if (worker.state === 'ready') countReady(core, worker, -1)
  else core.draining.delete(worker)
  worker.state = 'terminated'
  worker.jobs = []
  core.workers.delete(worker.id)
  worker.silenceTimer = clearTimer(core, worker.silenceTimer)
  clearTimer(core, worker.pings.timer)
  clearTimer(core, worker.pings.heartbeat?.timer)
  forgetEjection(core, worker)
  core.scheduler.refile(worker)
  core.actions.push({ type: 'terminate', worker: worker.id, reason })
}

/** The worker is no longer ejected. Idempotent. */
export function forgetEjection(core: Core, worker: WorkerRecord): void {
  worker.ejected = undefined
  core.ejected.delete(worker)
  core.writtenOff.delete(worker)
  worker.health.ejectionTimer = clearTimer(core, worker.health.ejectionTimer)
}
