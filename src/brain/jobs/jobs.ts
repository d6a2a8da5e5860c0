/** Events about jobs and their attempts. */

import { ContractError } from '../../lib/errors.ts'
import type { AttemptToken, Ongoing } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { noteAnswer, noteFailure } from '../functions/learning.ts'
import { sendToFunction } from '../functions/sending.ts'
import { isAbsent, mayBeClaimed } from '../recovery.ts'
import { type Attempt, newJobRecord } from '../state.ts'
import { adoptAttempt } from './adopting.ts'
import { releaseAttempt } from './attempts.ts'
import { checkJob, checkPressure } from './checks.ts'
import { conclude, endWith, withdraw } from './ending.ts'
import { isRunning, mirror } from './mirror.ts'
import { enqueue, fill, overflows, start } from './placing.ts'
import { noteDone, noteWaiting, predictionOf } from './progress.ts'
import { retry } from './retry.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

const finished: Reason = Object.freeze({ code: 'finished' })

export function arrive(core: Core, job: Job, pressure = 0, on?: Ongoing): void {
  if (core.jobs.has(job.id)) throw new ContractError(`job ${job.id} arrived twice`)
  checkJob(job)
  checkPressure(job, pressure)
  const record = newJobRecord(job, ++core.seqs.job, core.now, predictionOf(core, job), on !== undefined)
  core.jobs.set(job.id, record)
  core.counters.accepted++
  let overflow: Reason | undefined
  for (const arrives of core.hooks.arrives) {
    const admission = arrives(core, record, pressure)
    if (!admission) continue
    if ('refused' in admission) return conclude(core, record, 'refused', admission.refused)
    overflow = admission.overflow
  }
  if (on && adoptAttempt(core, record, on)) return
  if (overflow) return sendToFunction(core, record, overflow)
  const isFull = core.queue.size >= core.limits.queue
  const verdict = core.scheduler.place(record, core.now, isFull)
  if (verdict.worker) start(core, record, verdict.worker, verdict.reason)
  else if (overflows(core, record, verdict)) return
  else if (isFull) {
    const reason = { code: 'queue-full', waiting: core.queue.size, limit: core.limits.queue }
    conclude(core, record, 'refused', reason)
  } else enqueue(core, record, verdict)
}

/** The client has disconnected: it gets no answer. */
export function cancel(core: Core, id: string): void {
  const record = core.jobs.get(id)
  if (!record) return
  core.counters.cancelled++
  withdraw(core, record, { code: 'client-gone' })
}

/** An attempt that may start only once asks for permission. */
export function permit(core: Core, event: Of<'ready'>): void {
  const current = currentAttempt(core, event)
  const { epoch, job, attempt, worker } = event
  if (current) {
    current.committed = current.job.safeToRepeat === false
    core.actions.push({ type: 'go', epoch, job, attempt, worker })
  } else if (!mayBeClaimed(core, event)) {
    core.actions.push({ type: 'cancel', epoch, job, attempt, worker, reason: { code: 'superseded' } })
  }
}

/** Superseded messages are ignored without a `drop`. */
export function answering(core: Core, event: Of<'answering'>): void {
  const attempt = core.jobs.get(event.job)?.attempt
  if (attempt && matches(attempt, event)) attempt.answering = true
}

export function progress(core: Core, event: Of<'progressed'>): void {
  const attempt = currentAttempt(core, event)
  // Each message names the total, so one that was overtaken has nothing new.
  if (!attempt || event.done < attempt.reportedDone) return
  const waiting = event.waiting ?? attempt.waiting
  if (event.done === attempt.reportedDone && waiting === attempt.waiting) return
  noteWaiting(core, attempt, waiting)
  noteDone(core, attempt, event.done)
  const { worker } = attempt
  mirror(core, worker)
  core.scheduler.refile(worker)
  fill(core, worker)
}

export function finish(core: Core, event: Of<'finished'>): void {
  const attempt = currentAttempt(core, event)
  if (!attempt) return
  // Nothing is known of a worker that has not joined.
  const isKnown = !isAbsent(core, attempt.worker)
  if (isKnown) for (const hook of core.hooks.finished) hook(core, attempt, event.work)
  if (isKnown && !attempt.inFunction) core.scheduler.ended?.(attempt.worker, attempt.record, core.now)
  endWith(core, attempt, 'result', finished, event.work)
}

export function fail(core: Core, event: Of<'failed'>): void {
  const attempt = currentAttempt(core, event)
  if (!attempt) return
  const { kind } = event
  const { worker, inFunction } = attempt
  const isKnown = !isAbsent(core, worker)
  if (isKnown) for (const failed of core.hooks.failed) failed(core, attempt, kind, event.blameless)
  if (inFunction && kind === 'error') noteAnswer(core, attempt, undefined)
  // A function has limits of its own: on a worker the job may keep within them.
  const isAnswer = kind === 'error' && !(inFunction && core.overflow!.spec.errorsReturn)
  if (isAnswer || kind === 'cost-limit' || (kind === 'limit' && !inFunction)) {
    endWith(core, attempt, 'error', { code: kind, message: event.message ?? '' }, event.work)
    return
  }
  if (inFunction) {
    noteFailure(core, kind)
    releaseAttempt(core, attempt, kind === 'throttled' ? 0 : event.work)
    return retry(core, attempt, kind)
  }
  // A worker that could not be reached, or refused, gets no jobs until its next report.
  if ((kind === 'unreachable' || kind === 'refused') && core.limits.beatMs > 0) worker.suspect = true
  if (kind === 'unreachable') worker.unreachable = true
  if (kind === 'unreachable' && isRunning(core, attempt)) worker.brokenJobs.push(attempt.job.id)
  releaseAttempt(core, attempt, event.work)
  retry(core, attempt, kind)
  fill(core, worker)
}

/** The current attempt that this token names. A superseded token leads to a `drop`. */
function currentAttempt(core: Core, token: AttemptToken & { worker: string }): Attempt | undefined {
  const { epoch, job, attempt } = token
  const record = core.jobs.get(job)
  if (record?.attempt && matches(record.attempt, token)) return record.attempt
  if (mayBeClaimed(core, token)) return undefined
  core.counters.superseded++
  const reason = { code: record ? 'superseded' : 'job-over', attempt: record?.attempts ?? 0 }
  core.actions.push({ type: 'drop', epoch, job, attempt, reason })
  return undefined
}

function matches({ epoch, number, worker }: Attempt, token: AttemptToken & { worker: string }): boolean {
  return worker.id === token.worker && number === token.attempt && epoch === token.epoch
}
