/**
 * Deadlines. A job that must begin now to meet its deadline goes before all others, the one with the least slack first.
 * A job that can no longer meet its deadline is refused at once, not when the deadline passes.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Admission, Concern, Core } from '../core.ts'
import { functionInTime } from '../functions/worth.ts'
import type { Attempt, JobRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { answer, withdraw } from './ending.ts'
import { doneWork } from './mirror.ts'
import { reorder } from './placing.ts'
import { msOf } from './times.ts'
import { giveTurns, leaveTurn } from './turns.ts'

/** Estimates are not exact: a job is assumed to need this many times its predicted work. */
const caution = 1.25
/** A running job keeps its slack. If that is below this part of what the job needs, it is not looked at again. */
const close = 1 / 16
/** More milliseconds on a core than any job needs. */
const forEver = 1e18

export const deadlines: Concern = {
  name: 'deadlines',
  arrives(core, record) {
    return record.job.deadlineAt === undefined ? undefined : admit(core, record, record.job.deadlineAt)
  },
  started: replanSlack,
  over(core, record) {
    if (record.job.deadlineAt === undefined) return
    record.deadlineTimer = clearTimer(core, record.deadlineTimer)
    record.slackTimer = clearTimer(core, record.slackTimer)
    core.deadlines.delete(record)
  },
  jobTimers: { deadline: passDeadline, slack: checkSlack },
}

function admit(core: Core, record: JobRecord, deadlineAt: number): Admission | undefined {
  if (deadlineAt <= core.now) return { refused: { code: 'deadline', afterMs: 0 } }
  // What an earlier brain began may be nearly done.
  const late = record.isAdopted ? undefined : tooLate(core, record.job, deadlineAt)
  const overflow = late && functionInTime(core, record)
  if (late && !overflow) return { refused: late }
  record.deadlineTimer = setTimer(core, { kind: 'deadline', id: record.job.id }, deadlineAt)
  core.deadlines.add(record)
  if (core.discipline.ranks) planSlack(core, record, mustBegin(core, record))
  return overflow && { overflow }
}

/** Why workers cannot meet the deadline, even if the job needs little and all jobs with later deadlines wait. */
function tooLate(core: Core, job: Job, deadlineAt: number): Reason | undefined {
  if (!core.discipline.ranks || core.ready === core.withoutSlots) return undefined
  const leftMs = deadlineAt - core.now
  const needMs = (leastWork(job, 0) / core.fastest) * 1000
  if (needMs > leftMs) return noTime(core, job)
  let before = leastWork(job, 0)
  for (const { job: other, attempt } of core.deadlines) {
    if (other.deadlineAt! > deadlineAt || attempt?.inFunction) continue
    before += leastWork(other, attempt ? doneWork(attempt, core.now) : 0)
  }
  const togetherMs = (before / core.capacity) * 1000
  return togetherMs > leftMs
    ? { ...noTime(core, job), code: 'no-time-for-all', togetherMs: thousandths(togetherMs) }
    : undefined
}

/** On a slower worker the job must begin earlier. */
function replanSlack(core: Core, { record, worker, inFunction }: Attempt): void {
  if (!record.slackTimer || inFunction) return
  if (record.aheadMs === forEver || worker.workPerSecond === core.fastest) return
  clearTimer(core, record.slackTimer)
  planSlack(core, record, mustBegin(core, record))
}

function passDeadline(core: Core, record: JobRecord): void {
  record.deadlineTimer = undefined
  const reason = { code: 'deadline', afterMs: core.now - record.arrivedAt }
  if (record.attempt?.committed)
    answer(core, record, 'unknown', { code: 'outcome-unknown', cause: 'deadline' })
  else answer(core, record, 'refused', reason)
  withdraw(core, record, reason)
}

/** The job must begin now, or cannot meet its deadline any more. */
function checkSlack(core: Core, record: JobRecord): void {
  record.slackTimer = undefined
  const { job, attempt } = record
  if (record.aheadMs < forEver) {
    const due = mustBegin(core, record)
    const tolerance = attempt?.running ? closeMs(job.deadlineAt! - due) : 0
    if (due > core.now + tolerance) return planSlack(core, record, due)
    // It goes first to its end, so it needs no turn.
    leaveTurn(core, record)
    record.due = due
    record.aheadMs = forEver
    planSlack(core, record, mayBegin(core, record))
    reorder(core, record, { code: 'deadline-near', leftMs: thousandths(job.deadlineAt! - core.now) })
    giveTurns(core)
  } else if (!attempt) {
    const reason = noTime(core, job)
    answer(core, record, 'refused', reason)
    withdraw(core, record, reason)
  }
}

function noTime(core: Core, job: Job): Reason {
  const needMs = thousandths((leastWork(job, 0) / core.fastest) * 1000)
  return { code: 'no-time', needMs, leftMs: thousandths(job.deadlineAt! - core.now) }
}

function closeMs(needMs: number): number {
  return Math.max(1, needMs * close)
}

/** When the job must begin, or go on, to end by its deadline even if it needs more than predicted. */
function mustBegin(core: Core, record: JobRecord): number {
  const { job, attempt, expected } = record
  // More than that again is expected once that shows.
  const most = Math.max(job.work * caution, attempt?.expected ?? expected)
  const rate = rateOf(core, record)
  return job.deadlineAt! - (rate > 0 ? msOf(job, Math.max(0, most - doneOf(core, record)), rate) : 0)
}

/** When the job must begin, or go on, to end by its deadline if it needs little. */
function mayBegin(core: Core, record: JobRecord): number {
  const rate = rateOf(core, record)
  const work = leastWork(record.job, doneOf(core, record))
  return record.job.deadlineAt! - (rate > 0 ? (work / rate) * 1000 : 0)
}

/** A job that has begun stays on its worker. */
function rateOf(core: Core, { attempt }: JobRecord): number {
  return attempt?.worker.workPerSecond ?? core.fastest
}

function doneOf({ now }: Core, { attempt }: JobRecord): number {
  return attempt ? doneWork(attempt, now) : 0
}

/** What is left if the job needs little, as work that takes as long at the announced rate. */
function leastWork({ low = 0, speed }: Job, done: number): number {
  return Math.max(0, low - done) / (speed?.high ?? 1)
}

function planSlack(core: Core, record: JobRecord, at: number): void {
  // No later than its deadline, when the job ends anyway.
  const slackAt = Math.min(at, record.job.deadlineAt!)
  record.slackTimer = setTimer(core, { kind: 'slack', id: record.job.id }, slackAt)
}
