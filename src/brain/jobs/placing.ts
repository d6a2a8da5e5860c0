/** Where jobs go: to a worker, to a function, or into the queue. */

import { thousandths } from '../../lib/quantities.ts'
import type { Action } from '../../model/action.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { sendToFunction } from '../functions/sending.ts'
import { waitsForCore, worthFunction } from '../functions/worth.ts'
import type { Verdict } from '../schedule/scheduler.ts'
import { type Attempt, isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { launch } from '../workers/launching.ts'
import { msOn } from './announcements.ts'
import { beginAttempt } from './attempts.ts'
import { canAccept } from './eligible.ts'
import { mirror, queueBehind } from './mirror.ts'
import { precedenceOf, sendPrecedence, untilOn } from './precedence.ts'
import { allowanceOf } from './rate-limiting.ts'

/** How many queued jobs that a policy does not let a worker have are skipped before the search ends. */
const manyPassed = 64

/** Starts the job where the policy says, or queues it. Never refuses: the job has been accepted. */
export function place(core: Core, record: JobRecord, impatient = false): void {
  if (record.held) return enqueue(core, record, { reason: record.held })
  const { functions } = record
  if (functions && functions.retryAt > 0) {
    const reason = { code: 'function-pause', tries: functions.tries }
    return enqueue(core, record, { reason, again: functions.retryAt })
  }
  const verdict = core.scheduler.place(record, core.now, impatient)
  if (verdict.worker) start(core, record, verdict.worker, verdict.reason)
  else if (!overflows(core, record, verdict)) enqueue(core, record, verdict)
}

/** Sends a job that has no core to a function, if that is worth it and no core is about to be free. */
export function overflows(core: Core, record: JobRecord, { again }: Verdict): boolean {
  const reason = waitsForCore(core, again !== undefined) ? undefined : worthFunction(core, record)
  if (reason) sendToFunction(core, record, reason)
  return reason !== undefined
}

/** Gives the worker jobs from the queue while it has room and the policy agrees. */
export function fill(core: Core, worker: WorkerRecord): void {
  while (core.queue.size > 0 && isOpen(worker)) {
    const next = nextFor(core, worker)
    if (!next) return
    core.queue.remove(next.record)
    start(core, next.record, worker, next.reason)
  }
}

/** The queued job that the worker starts now: the first of the ranked ones, else one that the policy does not rank. */
function nextFor(core: Core, worker: WorkerRecord): { record: JobRecord; reason: Reason } | undefined {
  const accepts = (candidate: JobRecord) => mayTake(core, worker, candidate)
  const limit = core.scheduler.fits || core.overflow?.spec.retries ? manyPassed : undefined
  const record = core.queue.first(worker, accepts, limit)
  const reason = record && core.scheduler.takes(worker, record, core.now)
  if (reason) return { record, reason }
  const other = core.queue.firstAside(accepts)
  const otherReason = other && core.scheduler.takes(worker, other, core.now)
  return otherReason && { record: other, reason: otherReason }
}

/** True: the worker may take this queued job. Jobs that wait for a retry are not taken. */
export function mayTake(core: Core, worker: WorkerRecord, record: JobRecord): boolean {
  if (record.held || (record.functions && record.functions.retryAt > 0)) return false
  return canAccept(core, worker, record) && (core.scheduler.fits?.(worker, record) ?? true)
}

/** Sends the job, which is not queued, to the worker. */
export function start(core: Core, record: JobRecord, worker: WorkerRecord, reason: Reason): void {
  core.scheduler.leaves?.(record)
  const attempt = beginAttempt(core, record, worker, false)
  worker.placedStamp = ++core.seqs.placement
  worker.placedAt = core.now
  mirror(core, worker)
  core.scheduler.refile(worker)
  for (const started of core.hooks.started) started(core, attempt)
  tellRun(core, attempt, reason)
  if (!attempt.running && core.discipline.bounded) queueBehind(core, attempt)
}

/** Written out twice, because a spread is slow, and this is the most frequent action. */
function tellRun(core: Core, { job, number: attempt, worker, record }: Attempt, reason: Reason): void {
  const { epoch, limits } = core
  const precedence = precedenceOf(record)
  const run: Extract<Action, { type: 'run' }> = precedence
    ? { type: 'run', epoch, job: job.id, attempt, worker: worker.id, precedence, reason }
    : { type: 'run', epoch, job: job.id, attempt, worker: worker.id, reason }
  const connecting = limits.answers?.connecting
  if (connecting)
    run.connectMs = thousandths(connecting.leastMs + connecting.factor * msOn(worker, job, record.expected))
  const allowance = allowanceOf(core, record)
  if (allowance) run.allowance = allowance
  core.actions.push(run)
}

export function enqueue(core: Core, record: JobRecord, verdict: Verdict): void {
  if (verdict.launch) record.awaits = launch(core, verdict.launch)
  core.scheduler.waits?.(record, verdict)
  core.queue.add(record, core.scheduler.rank(record), core.scheduler.isAside?.(record))
  for (const queued of core.hooks.queued) queued(core, record, verdict)
  core.actions.push({ type: 'wait', job: record.job.id, reason: verdict.reason })
}

/** The job's precedence has changed: it may start or resume now, or be preempted. */
export function reorder(core: Core, record: JobRecord, reason: Reason): void {
  const { attempt } = record
  if (attempt) {
    const { worker } = attempt
    record.until = untilOn(worker, record)
    sendPrecedence(core, attempt, reason)
    mirror(core, worker)
    core.scheduler.refile(worker)
    fill(core, worker)
  } else if (record.queued) {
    record.until = record.aheadMs
    core.queue.remove(record)
    place(core, record)
  }
}
