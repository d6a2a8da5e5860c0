/** The life of a worker: it joins, reports, falls silent, drains, and is gone. */

import type { AttemptToken, HeldAttempt } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { Reason } from '../../model/reason.ts'
import { type Core, endLaunch } from '../core.ts'
import { endAnswer } from '../jobs/answer-limit.ts'
import { noteDone, retry } from '../jobs/jobs.ts'
import { mirror } from '../jobs/mirror.ts'
import { detach, fill, place, remind, spend } from '../jobs/placing.ts'
import { checkFacts } from '../jobs/sound.ts'
import { type JobRecord, newWorkerRecord, type WorkerRecord } from '../state.ts'
import { noteCpu } from './cpu.ts'
import { assignRole, repeatRole } from './roles.ts'
import { watch } from './silence.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

export function join(core: Core, event: Of<'joined'>): void {
  const known = core.workers.get(event.worker.id)
  if (known) {
    // It lost the connection and is back: what it does not hold any more is lost.
    if (event.seq > known.seq) {
      reconcile(core, known, event.seq, event.held, 0)
      remind(core, known)
      repeatRole(core, known)
    }
    return
  }
  checkFacts(event.worker)
  const launch = event.launch === undefined ? undefined : core.launches.get(event.launch)
  if (event.launch !== undefined && !endLaunch(core, event.launch)) {
    terminate(core, event.worker.id, { code: 'not-expected', launch: event.launch })
    return
  }
  if (launch) core.boots.add(event.bootMs ?? core.now - launch.at)
  core.launchFailures = 0
  core.launchNotBefore = 0
  const number = ++core.seqs.worker
  const assigned = core.scaler.roles && assignRole(core, core.scaler.roles, event.worker.id)
  const facts = assigned?.takesJobs === false ? { ...event.worker, slots: 0 } : event.worker
  const worker = newWorkerRecord(facts, {
    ...{ number, launch: event.launch, state: 'ready', since: launch?.at ?? core.now, placedAt: core.now },
    ...{ seq: event.seq, placedStamp: number - 2 ** 40 },
    ...(assigned && { role: assigned.role }),
  })
  core.workers.set(event.worker.id, worker)
  count(core, worker, 1)
  core.coresEach = worker.cores
  core.fastest = Math.max(core.fastest, worker.workPerSecond)
  watch(core, worker)
  cancelStrangers(core, worker, event.held)
  core.scheduler.refile(worker)
  fill(core, worker)
}

export function report(core: Core, event: Of<'reported'>): void {
  const worker = core.workers.get(event.worker)
  if (!worker) terminate(core, event.worker, { code: 'unknown-worker' })
  else if (event.seq > worker.seq) {
    const { cpuMs } = event
    if (cpuMs !== undefined && cpuMs >= 0 && cpuMs < Infinity) noteCpu(core, worker, cpuMs)
    if (event.role !== worker.role) repeatRole(core, worker)
    reconcile(core, worker, event.seq, event.held, core.limits.settleMs)
  }
}

/** Compares what the worker holds with what it should hold, and mends the difference. */
function reconcile(
  core: Core,
  worker: WorkerRecord,
  seq: number,
  held: HeldAttempt[],
  settleMs: number,
): void {
  worker.seq = seq
  worker.heardAt = core.now
  worker.reports++
  // It is no longer fresh: from now on it is missed sooner.
  if (worker.reports === 1 && !core.limits.pings) watch(core, worker)
  for (const attempt of held) {
    const record = core.jobs.get(attempt.job)
    if (!record || !isCurrent(core, record, worker, attempt)) continue
    record.seenIn = worker.reports
    if (attempt.done !== undefined) noteDone(core, record, attempt.done)
  }
  cancelStrangers(core, worker, held)
  // A report and an answer may pass each other on the way, so one that does not have it is not enough.
  const reports = settleMs > 0 ? 2 : 1
  const missing = worker.jobs.filter(
    ({ seenIn, sentAt, answering }) =>
      !answering && worker.reports - seenIn >= reports && core.now - sentAt >= settleMs,
  )
  worker.suspect = false
  worker.brokeOff = []
  for (const record of missing) detach(core, record)
  mirror(core, worker)
  core.scheduler.refile(worker)
  for (const record of missing) retry(core, record, worker, 'run-lost')
  fill(core, worker)
}

function isCurrent(core: Core, record: JobRecord, worker: WorkerRecord, token: AttemptToken): boolean {
  return record.worker === worker && record.attempt === token.attempt && token.epoch === core.epoch
}

/** Tells the worker to stop what nobody wants from it. */
function cancelStrangers(core: Core, worker: WorkerRecord, held: HeldAttempt[]): void {
  for (const token of held) {
    const { epoch, job, attempt } = token
    const record = core.jobs.get(job)
    if (record && isCurrent(core, record, worker, token)) continue
    core.actions.push({
      type: 'cancel',
      epoch,
      job,
      attempt,
      worker: worker.id,
      reason: { code: 'superseded' },
    })
  }
}

/** Somebody says that it is gone. Where workers are pinged that alone decides; until it is heard of it is given nothing. */
export function missed(core: Core, id: string, reason: Reason): void {
  if (!core.limits.pings) return lose(core, id, reason)
  const worker = core.workers.get(id)
  if (!worker) return
  worker.suspect = true
  core.scheduler.refile(worker)
}

/** The worker is gone, or is to be treated so: its jobs go elsewhere, and it is ended in case it is not. */
export function lose(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (!worker) return
  // Who drains is not missed.
  if (worker.state === 'ready') core.scaler.lost?.(id, core.now, worker.role)
  core.rescale = true
  for (const job of worker.brokeOff) {
    const record = core.jobs.get(job)
    if (record) record.losses++
  }
  takeBack(core, worker, reason, 'worker-lost')
}

/** The worker is ended, whatever it holds: that is for the others. */
export function end(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (worker) takeBack(core, worker, reason, 'worker-ended')
}

function takeBack(
  core: Core,
  worker: WorkerRecord,
  reason: Reason,
  cause: 'worker-lost' | 'worker-ended',
): void {
  const jobs = worker.jobs.slice()
  remove(core, worker, reason)
  for (const record of jobs) {
    spend(record)
    endAnswer(core, record)
    record.worker = undefined
  }
  for (const record of jobs) retry(core, record, worker, cause)
  placeWary(core)
}

export function drain(core: Core, id: string, reason: Reason): void {
  const worker = core.workers.get(id)
  if (worker?.state !== 'ready') return
  count(core, worker, -1)
  worker.state = 'draining'
  core.draining.add(worker)
  core.scheduler.refile(worker)
  core.actions.push({ type: 'drain', worker: id, reason })
  placeWary(core)
}

/** Ends workers that were to drain and are empty, unless the scaling policy sees to that. */
export function endDrained(core: Core): void {
  if (core.scaler.endsDrained) return
  for (const worker of core.draining) {
    if (worker.jobs.length === 0 && !core.through.has(worker.id)) remove(core, worker, { code: 'drained' })
  }
}

/** Fewer workers are left: jobs that avoided those may have to make do with one that failed them. */
function placeWary(core: Core): void {
  for (const record of core.waiting.wary()) {
    core.waiting.remove(record)
    place(core, record)
  }
}

function remove(core: Core, worker: WorkerRecord, reason: Reason): void {
  if (worker.state === 'ready') count(core, worker, -1)
  else core.draining.delete(worker)
  worker.state = 'gone'
  worker.jobs = []
  core.workers.delete(worker.id)
  if (worker.silence) core.timers.remove(worker.silence)
  core.scheduler.refile(worker)
  terminate(core, worker.id, reason)
}

/** A worker is ready (1), or is not any more (-1). */
export function count(core: Core, { slots, cores, workPerSecond, running }: WorkerRecord, by: 1 | -1): void {
  core.ready += by
  if (slots === 0) {
    core.withoutSlots += by
    return
  }
  core.busyCores += by * Math.min(cores, running)
  core.cores += by * cores
  core.capacity = core.ready === core.withoutSlots ? 0 : core.capacity + by * cores * workPerSecond
}

function terminate(core: Core, worker: string, reason: Reason): void {
  core.actions.push({ type: 'terminate', worker, reason })
}
