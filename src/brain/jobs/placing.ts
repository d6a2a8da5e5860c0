/** Jobs put into workers' hands and taken out of them, and their ends. */

import type { Job, Outcome, Precedence } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { firstStanding, type Said } from '../../model/revision.ts'
import { type Core, setTimer } from '../core.ts'
import { partLeft } from '../functions/backlog.ts'
import {
  leaveFunction,
  planLook,
  sendAway,
  stayWithFleet,
  waitsForCore,
  worthAway,
} from '../functions/overflow.ts'
import { isFunction } from '../functions/overflow-state.ts'
import type { Verdict } from '../schedule/scheduler.ts'
import { isOpen, type JobRecord, takeOut, type WorkerRecord } from '../state.ts'
import { launch } from '../workers/launches.ts'
import { leaveFront } from '../workers/roles.ts'
import { endAnswer, watchAnswer } from './answer-limit.ts'
import { endSlack, watchSlackOn } from './deadlines.ts'
import { canAccept } from './eligible.ts'
import { doneWork, mirror, queueBehind, settleDone } from './mirror.ts'
import { beginWaiting, endPatience, endWaiting, waitForFunction } from './patience.ts'
import { countWork, leaveShare } from './shares.ts'
import { endTurn } from './turns.ts'

/** Of jobs that a policy says do not fit a worker, so many are passed over. */
const manyPassed = 64

/** Starts the job where the policy says, or lets it wait. Never refuses: the job has been accepted. */
export function place(core: Core, record: JobRecord, impatient = false): void {
  if (record.awayAt > 0) return waitForFunction(core, record)
  const verdict = core.scheduler.place(record, core.now, impatient)
  if (verdict.worker) start(core, record, verdict.worker, verdict.reason)
  else if (!overflows(core, record, verdict)) wait(core, record, verdict)
}

/** The job has no core: if it had better go to a function it does. One that is about to have a core had better not. */
export function overflows(core: Core, record: JobRecord, { again }: Verdict): boolean {
  const reason = waitsForCore(core, again !== undefined) ? undefined : worthAway(core, record)
  if (reason) sendAway(core, record, reason)
  return reason !== undefined
}

/** Gives the worker jobs from the queue while it has room and the policy agrees. */
export function fill(core: Core, worker: WorkerRecord): void {
  while (core.waiting.size > 0 && isOpen(worker)) {
    const record = core.waiting.first(
      worker,
      (candidate) => mayHave(core, worker, candidate),
      core.scheduler.fits || core.overflow?.spec.retries ? manyPassed : undefined,
    )
    if (!record) return
    const reason = core.scheduler.takes(worker, record, core.now)
    if (!reason) return
    core.waiting.remove(record)
    start(core, record, worker, reason)
  }
}

/** Of a job in the queue. One that is to be tried again in a function is not for workers meanwhile. */
export function mayHave(core: Core, worker: WorkerRecord, record: JobRecord): boolean {
  return (
    record.awayAt === 0 && canAccept(core, worker, record) && (core.scheduler.fits?.(worker, record) ?? true)
  )
}

/** The attempt is over and has done so much, or as far as nobody measured it what its worker has said. */
export function spend(record: JobRecord, work = Number.NaN): void {
  record.spent += work >= 0 && work < Infinity ? work : record.saidDone
}

/** Takes the job out of its worker's hands. `work`: what the attempt has done, where that is known. */
export function detach(core: Core, record: JobRecord, work?: number): void {
  const worker = record.worker!
  countWork(core, record, work ?? doneWork(record, core.now))
  spend(record, work)
  takeOut(worker.jobs, record)
  worker.usedMb -= record.job.memoryMb
  // Sums of fractions are not exact: an empty worker starts over.
  if (worker.jobs.length === 0) worker.usedMb = 0
  record.worker = undefined
  endAnswer(core, record)
  if (record.away) leaveFunction(core, record)
  mirror(core, worker)
  core.scheduler.refile(worker)
}

/** The job is over: answers its client and forgets it. It must be in nobody's hands. */
export function conclude(core: Core, record: JobRecord, outcome: Outcome, reason: Reason): void {
  announce(core, record, outcome, reason)
  forget(core, record)
}

export function start(core: Core, record: JobRecord, worker: WorkerRecord, reason: Reason): void {
  endPatience(core, record)
  core.scheduler.leaves?.(record)
  endWaiting(core, record)
  stayWithFleet(core, record)
  record.awayAt = 0
  record.attempt++
  record.worker = worker
  record.sentAt = core.now
  record.seenIn = worker.reports
  record.answering = false
  record.running = false
  record.pausedAt = -1
  if (record.attempt > 1) standAnew(core, record)
  record.saidDone = 0
  record.counted = 0
  record.until = untilOn(worker, record)
  settleDone(record, 0, core.now)
  record.ranMs = 0
  watchSlackOn(core, record)
  core.overflow?.backlog.weigh(record, partLeft)
  worker.jobs.push(record)
  worker.usedMb += record.job.memoryMb
  worker.placedStamp = ++core.seqs.placement
  worker.placedAt = core.now
  mirror(core, worker)
  core.scheduler.refile(worker)
  watchAnswer(core, record)
  core.actions.push({
    type: 'run',
    epoch: core.epoch,
    job: record.job.id,
    attempt: record.attempt,
    worker: worker.id,
    ...(hasPrecedence(record) && { precedence: precedenceOf(record) }),
    reason,
  })
  if (!record.running && core.discipline.bounded) queueBehind(core, record)
}

export function wait(core: Core, record: JobRecord, verdict: Verdict): void {
  const { reason, again, launch: why } = verdict
  if (why) record.awaits = launch(core, why)
  core.scheduler.waits?.(record, verdict)
  core.waiting.add(record, core.scheduler.rank(record))
  core.overflow?.backlog.weigh(record, 1)
  planLook(core)
  endPatience(core, record)
  if (record.awayAt === 0) {
    stayWithFleet(core, record)
    beginWaiting(core, record)
  }
  if (again !== undefined) {
    record.patience = setTimer(core, { kind: 'patience', id: record.job.id }, again)
  }
  core.actions.push({ type: 'wait', job: record.job.id, reason })
}

/** The job's precedence has changed: it may start or go on now, or have to make way. */
export function reorder(core: Core, record: JobRecord, reason: Reason): void {
  const { worker } = record
  if (worker) {
    record.until = untilOn(worker, record)
    sayRank(core, record, reason)
    mirror(core, worker)
    core.scheduler.refile(worker)
    fill(core, worker)
  } else if (record.queued) {
    // Nobody knows yet on which worker that will be.
    record.until = record.aheadMs
    core.waiting.remove(record)
    place(core, record)
  }
}

/** The worker was away: what it was told of its jobs meanwhile may be lost. */
export function remind(core: Core, worker: WorkerRecord): void {
  for (const record of worker.jobs) if (hasPrecedence(record)) sayRank(core, record, { code: 'said-again' })
}

/** Tells the worker of the job's precedence. */
export function sayRank(core: Core, record: JobRecord, reason: Reason): void {
  const { job, attempt, worker } = record
  // A function has nothing else to do.
  if (isFunction(core, worker!)) return
  const precedence = precedenceOf(record)
  const token = { epoch: core.epoch, job: job.id, attempt, worker: worker!.id }
  core.actions.push({ type: 'rank', ...token, precedence, reason })
}

/** Where jobs are not ranked by what is left of them, one number is what counts, and not how sure it is. */
export function saidOf({ discipline }: Core, job: Job): Said {
  return discipline.ranks ? job : { work: job.work }
}

/** Nothing of it is done. */
export function standAnew(core: Core, record: JobRecord): void {
  const { expected, reviseAt } = firstStanding(saidOf(core, record.job))
  record.expected = expected
  record.reviseAt = reviseAt
}

/** As work of that worker: the time for which the job goes first. */
export function untilOn({ workPerSecond }: WorkerRecord, { aheadMs }: JobRecord): number {
  return (aheadMs / 1000) * workPerSecond
}

function hasPrecedence({ tier, until }: JobRecord): boolean {
  return tier > 0 || until > 0
}

function precedenceOf({ tier, until, due }: JobRecord): Precedence {
  return { tier, until, due }
}

/** Ends a job whose worker has let go of it. */
export function endWith(
  core: Core,
  record: JobRecord,
  outcome: Outcome,
  reason: Reason,
  work?: number,
): void {
  const worker = record.worker!
  announce(core, record, outcome, reason)
  detach(core, record, work)
  forget(core, record)
  fill(core, worker)
}

/** Ends a job wherever it is, without an answer. */
export function withdraw(core: Core, record: JobRecord, reason: Reason): void {
  const { worker, attempt } = record
  if (worker) {
    detach(core, record, doneWork(record, core.now))
    core.actions.push({
      type: 'cancel',
      epoch: core.epoch,
      job: record.job.id,
      attempt,
      worker: worker.id,
      reason,
    })
  }
  forget(core, record)
  if (worker) fill(core, worker)
}

export function announce(core: Core, record: JobRecord, outcome: Outcome, reason: Reason): void {
  const { counters } = core
  if (outcome === 'result') counters.results++
  else if (outcome === 'error') counters.errors++
  else if (outcome === 'unknown') counters.unknown++
  else if (outcome === 'dropped') counters.dropped++
  else counters.refused++
  core.actions.push({ type: 'answer', job: record.job.id, outcome, reason })
}

function forget(core: Core, record: JobRecord): void {
  core.waiting.remove(record)
  core.scheduler.leaves?.(record)
  core.overflow?.backlog.weigh(record, 0)
  if (record.deadline) core.timers.remove(record.deadline)
  endSlack(core, record)
  endPatience(core, record)
  endWaiting(core, record)
  endAnswer(core, record)
  core.jobs.delete(record.job.id)
  if (record.job.front !== undefined) leaveFront(core, record.job.front)
  endTurn(core, record)
  leaveShare(core, record)
  core.rateLimits?.adjust(record.client, record.spent - record.paid, core.now)
}
