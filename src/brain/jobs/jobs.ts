/** The life of a job: it arrives, waits, is tried, perhaps again, and ends with exactly one answer. */

import { ContractError } from '../../lib/errors.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { AttemptToken, FailureKind } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { standingAt } from '../../model/revision.ts'
import { type Core, setTimer } from '../core.ts'
import { failAway, inTimeAway, sendAway, worthAway } from '../functions/overflow.ts'
import { noteEnd, noteFailure, noteFleet } from '../functions/overflow-learns.ts'
import { isFunction } from '../functions/overflow-state.ts'
import { type JobRecord, newJobRecord, type WorkerRecord } from '../state.ts'
import { comeThrough } from '../workers/roles.ts'
import { tooLate, watchSlack } from './deadlines.ts'
import { canAccept } from './eligible.ts'
import { doneWork, isRunning, mirror, ranMs, settleDone } from './mirror.ts'
import {
  announce,
  conclude,
  detach,
  endWith,
  fill,
  overflows,
  place,
  saidOf,
  standAnew,
  start,
  wait,
  withdraw,
} from './placing.ts'
import { msOn, say } from './said.ts'
import { joinShare } from './shares.ts'
import { checkJob } from './sound.ts'
import { checkTurn, loseTurn, watchAge } from './turns.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** A job that is taken to need so much more than before has a story to tell. */
const outgrown = 1.25

/** Attempts end so through no fault of their worker, or of one that is gone. */
const blameless: ReadonlySet<string> = new Set(['worker-lost', 'worker-ended', 'run-lost', 'overdue'])

const finished: Reason = Object.freeze({ code: 'finished' })

export function arrive(core: Core, job: Job): void {
  if (core.jobs.has(job.id)) throw new ContractError(`job ${job.id} arrived twice`)
  checkJob(job)
  const record = newJobRecord(job, ++core.seqs.job, core.now, saidOf(core, job))
  core.jobs.set(job.id, record)
  core.counters.accepted++
  if (job.front !== undefined) comeThrough(core, job.front)
  let away: Reason | undefined
  if (job.deadlineAt !== undefined) {
    if (job.deadlineAt <= core.now) {
      conclude(core, record, 'refused', { code: 'deadline', afterMs: 0 })
      return
    }
    const late = tooLate(core, job)
    away = late && inTimeAway(core, record)
    if (late && !away) return conclude(core, record, 'refused', late)
    record.deadline = setTimer(core, { kind: 'deadline', id: job.id }, job.deadlineAt)
    watchSlack(core, record)
  }
  const tooMuch = core.rateLimits?.take(record.client, job.work, core.now)
  if (tooMuch) return conclude(core, record, 'refused', tooMuch)
  record.paid = job.work
  joinShare(core, record)
  watchAge(core, record)
  if (away) return sendAway(core, record, away)
  const isFull = core.waiting.size >= core.limits.queue
  const verdict = core.scheduler.place(record, core.now, isFull)
  if (verdict.worker) start(core, record, verdict.worker, verdict.reason)
  else if (overflows(core, record, verdict)) return
  else if (isFull) {
    conclude(core, record, 'refused', {
      code: 'queue-full',
      waiting: core.waiting.size,
      limit: core.limits.queue,
    })
  } else wait(core, record, verdict)
}

/** The client is gone: no answer is owed any more. */
export function cancel(core: Core, id: string): void {
  const record = core.jobs.get(id)
  if (!record) return
  core.counters.cancelled++
  withdraw(core, record, { code: 'client-gone' })
}

export function passDeadline(core: Core, id: string): void {
  const record = core.jobs.get(id)
  if (!record) return
  record.deadline = undefined
  const reason = { code: 'deadline', afterMs: core.now - record.arrivedAt }
  if (record.committed) announce(core, record, 'unknown', { code: 'outcome-unknown', cause: 'deadline' })
  else announce(core, record, 'refused', reason)
  withdraw(core, record, reason)
}

/** An attempt that may start only once is ready to. */
export function permit(core: Core, event: Of<'ready'>): void {
  const record = current(core, event)
  const { epoch, job, attempt, worker } = event
  if (record) {
    record.committed = record.job.safeToRepeat === false
    core.actions.push({ type: 'go', epoch, job, attempt, worker })
  } else {
    core.actions.push({ type: 'cancel', epoch, job, attempt, worker, reason: { code: 'superseded' } })
  }
}

/** Late ones are nothing to speak of. */
export function answering(core: Core, { epoch, job, attempt, worker }: Of<'answering'>): void {
  const record = core.jobs.get(job)
  if (record?.worker?.id === worker && epoch === core.epoch && attempt === record.attempt)
    record.answering = true
}

export function progress(core: Core, event: Of<'progressed'>): void {
  const record = current(core, event)
  // Each says how much is done in all, so one that came twice or was overtaken says nothing new.
  if (!record || event.done <= record.saidDone) return
  noteDone(core, record, event.done)
  const worker = record.worker!
  mirror(core, worker)
  core.scheduler.refile(worker)
  fill(core, worker)
}

/** The worker knows better how much of the job is done, unless it says what cannot be, or what it said before. */
export function noteDone(core: Core, record: JobRecord, done: number): void {
  if (!(done >= record.saidDone && done < Infinity)) return
  record.saidDone = done
  settleDone(record, done, core.now)
  checkTurn(core, record)
  if (done < record.reviseAt) return
  const { worker, job, expected: was } = record
  const { expected, reviseAt } = standingAt(saidOf(core, job), done)
  record.expected = expected
  record.reviseAt = reviseAt
  // That it takes a little more than was said is nothing to tell of.
  if (!worker || done < job.work || expected < was * outgrown) return
  const reason = { doneMs: msOn(worker, done), wasMs: msOn(worker, was), nowMs: msOn(worker, expected) }
  say(core, 'revise', record, worker, { code: 'outgrew', ...reason })
}

export function finish(core: Core, event: Of<'finished'>): void {
  const record = current(core, event)
  if (!record) return
  if (record.away) noteEnd(core, record, event.work)
  else {
    noteFleet(core, record, event.work)
    core.scheduler.ended?.(record.worker!, record, core.now)
  }
  noteFinished(core, record, event.work)
  endWith(core, record, 'result', finished, event.work)
}

/** How long it had a core is what was seen; where jobs share cores, or in a function, what its work should take. */
function noteFinished(core: Core, record: JobRecord, work: number): void {
  const { scaler, discipline, now } = core
  const { worker, job, arrivedAt, away } = record
  if (!scaler.finished || !(work >= 0 && work < Infinity)) return
  const rate = worker!.workPerSecond
  const seenMs = discipline.bounded && !away ? ranMs(record, now) : 0
  const seconds = seenMs > 0 ? seenMs / 1000 : work / rate
  const late = job.deadlineAt === undefined ? undefined : now > job.deadlineAt
  scaler.finished({ seconds, expected: job.work / rate, hereMs: now - arrivedAt, late }, now)
}

export function fail(core: Core, event: Of<'failed'>): void {
  const record = current(core, event)
  if (!record) return
  const { kind } = event
  const { away } = record
  if (away && kind === 'error') noteEnd(core, record, undefined)
  // A function's limits are its own: on a worker the job may keep within them.
  const isAnswer = kind === 'error' && !(away && core.overflow!.spec.errorsReturn)
  if (isAnswer || (kind === 'limit' && !away)) {
    endWith(core, record, 'error', { code: kind, message: event.message ?? '' }, event.work)
    return
  }
  const worker = record.worker!
  if (away) {
    noteFailure(core, kind)
    detach(core, record, kind === 'throttled' ? 0 : event.work)
    return retry(core, record, worker, kind)
  }
  // Until it is heard of again a worker that cannot be reached, or takes nothing, is given nothing.
  if ((kind === 'unreachable' || kind === 'refused') && core.limits.beatMs > 0) worker.suspect = true
  if (kind === 'unreachable' && isRunning(core, record)) worker.brokeOff.push(record.job.id)
  detach(core, record, event.work)
  retry(core, record, worker, kind)
  fill(core, worker)
}

/** An attempt has come to nothing: try again elsewhere, unless a rule says no. The job is in nobody's hands. */
export function retry(
  core: Core,
  record: JobRecord,
  failed: WorkerRecord,
  cause: FailureKind | 'worker-lost' | 'worker-ended' | 'run-lost' | 'function-silent' | 'overdue',
): void {
  if (record.committed) {
    conclude(core, record, 'unknown', { code: 'outcome-unknown', cause })
    return
  }
  const doneMs = msOn(failed, doneWork(record, core.now, failed))
  if (cause === 'crash' || cause === 'unready') record.crashes++
  if (cause === 'killed' || (cause === 'worker-lost' && isRunning(core, record))) record.losses++
  record.running = false
  const { crashes, losses } = record
  if (crashes >= core.limits.crashes || losses >= core.limits.losses) {
    const why = cause === 'unready' ? { code: cause, tries: crashes } : { code: 'poison', crashes, losses }
    conclude(core, record, 'refused', why)
    return
  }
  const retried = record.attempt - record.awayTries - 1
  const { retries } = core.limits
  if (retries !== null && retried >= retries) {
    conclude(core, record, 'refused', { code: 'retries', retries, cause })
    return
  }
  if (record.attempt >= core.limits.attempts) {
    conclude(core, record, 'refused', { code: 'attempts', attempts: record.attempt, cause })
    return
  }
  core.counters.retries++
  const afterMs = thousandths(core.now - record.sentAt)
  say(core, 'retry', record, failed, { code: cause, afterMs, doneMs })
  if (isFunction(core, failed)) failAway(core, record, cause)
  else if (!blameless.has(cause)) {
    record.excluded ??= new Set()
    record.excluded.add(failed.id)
  }
  standAnew(core, record)
  loseTurn(core, record)
  if (cause === 'overdue' && canAccept(core, failed, record))
    return start(core, record, failed, { code: 'sent-again', times: record.resent })
  const away = core.overflow?.spec.afterFailure && !isFunction(core, failed) && worthAway(core, record)
  if (away) sendAway(core, record, away)
  else place(core, record)
}

/** The job that this token is the current attempt of. A superseded token is dropped, and that is noted. */
function current(core: Core, { epoch, job, attempt, worker }: AttemptToken & { worker: string }) {
  const record = core.jobs.get(job)
  const inHand = record?.worker?.id === worker
  if (record && inHand && epoch === core.epoch && attempt === record.attempt) return record
  core.counters.superseded++
  core.actions.push({
    type: 'drop',
    epoch,
    job,
    attempt,
    reason: { code: record ? 'superseded' : 'job-over', attempt: record?.attempt ?? 0 },
  })
  return undefined
}
