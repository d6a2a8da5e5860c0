/**
 * Deadlines: a job that must begin now to be done in time goes before all others, those with the least slack first;
 * one that cannot be done in time any more is refused at once rather than when its time is up.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { type Core, setTimer } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { doneWork } from './mirror.ts'
import { announce, reorder, withdraw } from './placing.ts'
import { giveTurns, leaveTurn } from './turns.ts'

/** Estimates are not exact: a job is taken to need so much more. */
const caution = 1.25
/** While a job runs it keeps what slack it has. Where that is but this part of what it needs, it is not looked at again. */
const close = 1 / 16
/** More work than any job does. */
export const forEver = 1e18

/** Why the job cannot be done in time, even if it needs little and all others with later deadlines, or none, wait. */
export function tooLate(core: Core, job: Job): Reason | undefined {
  const { deadlineAt } = job
  if (deadlineAt === undefined || !core.discipline.ranks || core.ready === core.withoutSlots) return undefined
  const leftMs = deadlineAt - core.now
  const needMs = (leastWork(job) / core.fastest) * 1000
  if (needMs > leftMs) return noTime(core, job)
  let before = leastWork(job)
  for (const record of core.deadlines) {
    if (record.job.deadlineAt! > deadlineAt || record.away) continue
    const done = record.worker ? doneWork(record, core.now) : 0
    before += Math.max(0, leastWork(record.job) - done)
  }
  const togetherMs = (before / core.capacity) * 1000
  return togetherMs > leftMs
    ? { ...noTime(core, job), code: 'no-time-for-all', togetherMs: thousandths(togetherMs) }
    : undefined
}

/** Asks to be called when the job must begin. */
export function watchSlack(core: Core, record: JobRecord): void {
  core.deadlines.add(record)
  if (core.discipline.ranks) plan(core, record, startBy(core, record, mostWork(record)))
}

/** The job has been sent to a worker: if that is a slow one, it must begin earlier. */
export function watchSlackOn(core: Core, record: JobRecord): void {
  if (!record.slack || record.aheadMs === forEver || record.worker!.workPerSecond === core.fastest) return
  core.timers.remove(record.slack)
  plan(core, record, startBy(core, record, mostWork(record)))
}

/** The job must begin now, or it is too late for it. */
export function checkSlack(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  record.slack = undefined
  const { job } = record
  if (record.aheadMs < forEver) {
    const due = startBy(core, record, mostWork(record))
    if (due > core.now + (record.running ? closeMs(job.deadlineAt! - due) : 0)) return plan(core, record, due)
    // It goes first to its end: a turn would be nothing to it.
    leaveTurn(core, record)
    record.due = due
    record.aheadMs = forEver
    plan(core, record, startBy(core, record, leastWork(job)))
    reorder(core, record, { code: 'deadline-near', leftMs: thousandths(job.deadlineAt! - core.now) })
    giveTurns(core)
  } else if (!record.worker) {
    const reason = noTime(core, job)
    announce(core, record, 'refused', reason)
    withdraw(core, record, reason)
  }
}

export function endSlack(core: Core, record: JobRecord): void {
  if (record.slack) core.timers.remove(record.slack)
  core.deadlines.delete(record)
}

function noTime(core: Core, job: Job): Reason {
  const needMs = thousandths((leastWork(job) / core.fastest) * 1000)
  return { code: 'no-time', needMs, leftMs: thousandths(job.deadlineAt! - core.now) }
}

function closeMs(needMs: number): number {
  return Math.max(1, needMs * close)
}

/** The last moment for a job of so much work, of which some may be done. */
function startBy(core: Core, record: JobRecord, work: number): number {
  const { worker } = record
  const done = worker ? doneWork(record, core.now) : 0
  // One that has begun stays where it is.
  const workPerSecond = worker?.workPerSecond ?? core.fastest
  const leftMs = workPerSecond > 0 ? (Math.max(0, work - done) / workPerSecond) * 1000 : 0
  return record.job.deadlineAt! - leftMs
}

/** It may need more than was said, and more again once that shows. */
function mostWork({ job, expected }: JobRecord): number {
  return Math.max(job.work * caution, expected)
}

/** Hardly any such job takes less; without an interval nobody knows. */
function leastWork({ low = 0 }: Job): number {
  return low
}

function plan(core: Core, record: JobRecord, at: number): void {
  // Not after its deadline: by then it is gone.
  record.slack = setTimer(core, { kind: 'slack', id: record.job.id }, Math.min(at, record.job.deadlineAt!))
}
