/**
 * Deadlines: a job that must begin now to be done in time goes before all others, those with the least slack first;
 * one that cannot be done in time any more is refused at once rather than when its time is up.
 */

import type { Job, Reason } from '../model.ts'
import { type Core, setTimer } from './core.ts'
import { doneWork } from './mirror.ts'
import { announce, reorder, withdraw } from './placing.ts'
import type { JobRecord } from './state.ts'

/** Estimates are not exact: a job is taken to need so much more. */
const caution = 1.25
/** More work than any job does. */
export const forEver = 1e18

/** Why the job cannot be done in time, even if it needs little and all others with later deadlines, or none, wait. */
export function tooLate(core: Core, job: Job): Reason | undefined {
  const { deadlineAt } = job
  if (deadlineAt === undefined || !core.discipline.ranks || core.ready === 0) return undefined
  const leftMs = deadlineAt - core.now
  const needMs = (leastWork(job) / core.fastest) * 1000
  if (needMs > leftMs) return { code: 'no-time', needMs, leftMs }
  let before = leastWork(job)
  for (const record of core.deadlines) {
    if (record.job.deadlineAt! > deadlineAt) continue
    const done = record.worker ? doneWork(record, core.now) : 0
    before += Math.max(0, leastWork(record.job) - done)
  }
  const togetherMs = (before / core.capacity) * 1000
  return togetherMs > leftMs ? { code: 'no-time-for-all', needMs, togetherMs, leftMs } : undefined
}

/** Asks to be called when the job must begin. */
export function watchSlack(core: Core, record: JobRecord): void {
  core.deadlines.add(record)
  if (core.discipline.ranks) plan(core, record, startBy(core, record, record.job.work * caution))
}

/** The job must begin now, or it is too late for it. */
export function checkSlack(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  record.slack = undefined
  const { job } = record
  const leftMs = job.deadlineAt! - core.now
  if (record.aheadMs < forEver) {
    const due = startBy(core, record, job.work * caution)
    if (due > core.now) return plan(core, record, due)
    record.due = due
    record.aheadMs = forEver
    plan(core, record, startBy(core, record, leastWork(job)))
    reorder(core, record, { code: 'deadline-near', leftMs })
  } else if (!record.worker) {
    const reason = { code: 'no-time', needMs: (leastWork(job) / core.fastest) * 1000, leftMs }
    announce(core, record, 'refused', reason)
    withdraw(core, record, reason)
  }
}

export function endSlack(core: Core, record: JobRecord): void {
  if (record.slack) core.timers.remove(record.slack)
  core.deadlines.delete(record)
}

/** The last moment for a job of so much work, of which some may be done. */
function startBy(core: Core, record: JobRecord, work: number): number {
  const done = record.worker ? doneWork(record, core.now) : 0
  const leftMs = core.fastest > 0 ? (Math.max(0, work - done) / core.fastest) * 1000 : 0
  return record.job.deadlineAt! - leftMs
}

/** Hardly any such job takes less; without an interval nobody knows. */
function leastWork({ low = 0 }: Job): number {
  return low
}

function plan(core: Core, record: JobRecord, at: number): void {
  // Not after its deadline: by then it is gone.
  record.slack = setTimer(core, { kind: 'slack', id: record.job.id }, Math.min(at, record.job.deadlineAt!))
}
