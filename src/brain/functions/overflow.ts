/**
 * Overflow: a job that would wait goes to a function if it is done there much sooner, and that costs less than what a
 * worker for it would cost and its waiting is worth. What comes to nothing there is done by the fleet.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { type Core, setTimer } from '../core.ts'
import { retry } from '../jobs/jobs.ts'
import { settleDone } from '../jobs/mirror.ts'
import { endPatience, endWaiting } from '../jobs/patience.ts'
import { detach, standAnew, untilOn } from '../jobs/placing.ts'
import type { JobRecord } from '../state.ts'
import { forgetCold, noteFailure } from './overflow-learns.ts'
import type { OverflowSpec } from './overflow-spec.ts'
import { allBusy, type Overflow } from './overflow-state.ts'

/** A function must beat the fleet by this part of its own time, and by so much: neither time is exact. */
const margin = 0.25
const leastGainMs = 20
/** A job goes where hardly any like it takes longer than this part of what a function may. */
const safePart = 0.8
/** So many jobs of the queue are looked at, in its order, when a function is free. */
const looksAt = 32
/** A function may take so many times as long as predicted before it is given up, if it is silent. */
const tolerance = 10
/** How long a worker takes to boot, before any has. */
const firstBootMs = 30_000
/** No wait is taken to be longer than this. */
const longestWaitMs = 3_600_000
/** Faults of functions that are soon over: 429, 503, no answer in time. */
const passing: ReadonlySet<string> = new Set(['throttled', 'refused', 'timeout', 'function-silent'])
/** A job that was tried so often, or half as often as it may be at all, is for the fleet. */
const mostTries = 6

/** Why the job had better go to a function now; undefined: it had better not. */
export function worthAway(core: Core, record: JobRecord): Reason | undefined {
  const { overflow } = core
  if (!overflow || !mayGo(core, overflow, record)) return undefined
  return overflow.spec.rule === 'small' ? isSmall(overflow, record) : pays(core, overflow, record)
}

/** No worker takes it, and it is no more than a function is meant for. */
function isSmall({ spec }: Overflow, { job }: JobRecord): Reason | undefined {
  const { mostWork } = spec
  return job.work <= mostWork ? { code: 'overflow-small', work: job.work, mostWork } : undefined
}

function pays(core: Core, overflow: Overflow, record: JobRecord): Reason | undefined {
  const { spec } = overflow
  const { work } = record.job
  const functionMs = timeAway(overflow, work, core.now)
  const ownMs = (work / (core.fastest || spec.workPerSecond)) * 1000 * overflow.fleetPace
  const waitMs = expectedWaitMs(core, overflow, record)
  const soonerMs = waitMs + ownMs - functionMs
  if (soonerMs < Math.max(leastGainMs, margin * functionMs)) return undefined
  const { workerHour, waitingHour } = spec.prices
  const price = priceOf(spec, functionMs)
  const worth = (ownMs * (workerHour / meanCores(core)) + soonerMs * waitingHour) / 3_600_000
  if (price >= worth) return undefined
  const times = { waitMs: thousandths(waitMs), functionMs: thousandths(functionMs) }
  return { code: 'overflow', ...times, price: digits(price), worth: digits(worth) }
}

/** The fleet cannot do the job by its deadline: can a function? */
export function inTimeAway(core: Core, record: JobRecord): Reason | undefined {
  const { overflow } = core
  if (!overflow || !mayGo(core, overflow, record)) return undefined
  const functionMs = timeAway(overflow, record.job.work, core.now)
  return { code: 'overflow-deadline', functionMs: thousandths(functionMs) }
}

/** Puts the job, which is in nobody's hands, into those of a function. */
export function sendAway(core: Core, record: JobRecord, reason: Reason): void {
  const overflow = core.overflow!
  const { spec, place, backlog, warm, pace } = overflow
  const { now } = core
  endPatience(core, record)
  core.scheduler.leaves?.(record)
  endWaiting(core, record)
  forgetCold(overflow, now)
  record.coldMs = warm.pop() === undefined ? overflow.coldMs : 0
  record.attempt++
  record.awayTries++
  record.awayAt = 0
  record.worker = place
  record.sentAt = now
  record.running = false
  record.pausedAt = -1
  standAnew(core, record)
  record.saidDone = record.counted = 0
  record.until = untilOn(place, record)
  settleDone(record, 0, now)
  record.ranMs = 0
  record.answering = false
  record.running = true
  place.jobs.push(record)
  place.usedMb += record.job.memoryMb
  backlog.weigh(record, 0)
  const expectedMs = record.coldMs + (record.job.work / spec.workPerSecond) * 1000 * pace
  const patienceMs = Math.min(
    Math.max(spec.patienceMs, tolerance * expectedMs),
    spec.timeoutMs + spec.patienceMs,
  )
  record.away = setTimer(core, { kind: 'away', id: record.job.id }, now + patienceMs)
  const { epoch } = core
  const { attempt, job } = record
  core.actions.push({ type: 'overflow', epoch, job: job.id, attempt, function: place.id, reason })
}

/** It has been given to a worker, or put into the queue: where only those that come may go to functions, that is for good. */
export function stayWithFleet({ overflow }: Core, record: JobRecord): void {
  if (overflow?.spec.when === 'arrival') record.fleetOnly = true
}

/** An attempt has come to nothing there: is it made again in a function, and when, or is it for the fleet? */
export function failAway(core: Core, record: JobRecord, cause: string): void {
  const { retries } = core.overflow!.spec
  // One that was turned away may be taken another time.
  if (!retries) record.fleetOnly ||= cause !== 'throttled'
  else if (passing.has(cause) && record.awayTries < retries.most)
    record.awayAt = core.now + retries.backoffMs * 2 ** (record.awayTries - 1)
  else record.fleetOnly = true
}

/** The job is taken out of a function's hands. */
export function leaveFunction(core: Core, record: JobRecord): void {
  core.timers.remove(record.away!)
  record.away = undefined
  core.overflow!.freed = true
}

/** Nothing has been heard of the function for too long. */
export function giveUp(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  const worker = record.worker!
  const { attempt } = record
  const afterMs = thousandths(core.now - record.sentAt)
  const reason = { code: 'function-silent', afterMs }
  noteFailure(core, 'function-silent')
  detach(core, record)
  core.actions.push({ type: 'cancel', epoch: core.epoch, job: id, attempt, worker: worker.id, reason })
  retry(core, record, worker, 'function-silent')
}

/** Sends away what of the queue had better go now, the first in its order first. */
export function thinOver(core: Core): void {
  const { overflow } = core
  if (!overflow) return
  overflow.freed = false
  while (core.waiting.size > 0 && !allBusy(overflow)) {
    let reason: Reason | undefined
    const record = core.waiting.find((candidate) => {
      // A core is about to be free for it.
      if (waitsForCore(core, candidate.patience !== undefined)) return false
      reason = worthAway(core, candidate)
      return reason !== undefined
    }, looksAt)
    if (!record) return
    core.waiting.remove(record)
    sendAway(core, record, reason!)
  }
}

/** A core is about to be free for it. Who waits by a rule has no such prospect. */
export function waitsForCore({ overflow }: Core, patient: boolean): boolean {
  return patient && overflow?.spec.rule === 'pays'
}

/** Looks at the queue again after a while. */
export function planLook(core: Core): void {
  const { overflow } = core
  if (!overflow || overflow.planned) return
  overflow.planned = true
  setTimer(core, { kind: 'overflow', id: 'every' }, core.now + overflow.spec.everyMs)
}

export function lookAgain(core: Core): void {
  core.overflow!.planned = false
  thinOver(core)
  if (core.waiting.size > 0) planLook(core)
}

function mayGo(core: Core, overflow: Overflow, record: JobRecord): boolean {
  const { notBefore } = overflow
  const { job } = record
  if (core.now < notBefore || allBusy(overflow)) return false
  const tries = Math.min(mostTries, core.limits.attempts / 2)
  if (record.fleetOnly || record.awayAt > 0 || record.attempt >= tries || !fits(overflow, job)) return false
  return job.deadlineAt === undefined || core.now + timeAway(overflow, job.work, core.now) < job.deadlineAt
}

/** A function cannot ask before it starts, so what must not be repeated does not go there. */
function fits({ spec, pace, coldMs }: Overflow, { work, high = work, memoryMb, safeToRepeat }: Job): boolean {
  if (safeToRepeat === false || memoryMb > spec.memoryMb) return false
  // Who goes because it is taken to be small goes by that alone.
  const most = spec.rule === 'small' ? work : high
  return coldMs + (most / spec.workPerSecond) * 1000 * pace <= safePart * spec.timeoutMs
}

/** How long so much work takes there, from now on. */
function timeAway(overflow: Overflow, work: number, now: number): number {
  forgetCold(overflow, now)
  const startMs = overflow.warm.length > 0 ? 0 : overflow.coldMs
  return startMs + (work / overflow.spec.workPerSecond) * 1000 * overflow.pace
}

/** How long until the fleet comes to the job, with the workers that are booting now and no others. */
function expectedWaitMs(core: Core, overflow: Overflow, record: JobRecord): number {
  const { backlog, spec, fleetPace } = overflow
  const bootMs = core.boots.percentile(50) ?? firstBootMs
  const work = backlog.before(record, core.scheduler.bySize ?? false) * fleetPace
  const booting = core.launches.size
  const each = core.ready > 0 ? core.capacity / core.ready : core.fastest || spec.workPerSecond
  const more = booting * each
  const oldest: { at: number } | undefined = core.launches.values().next().value
  const bootLeft = oldest ? Math.max(0, (oldest.at + bootMs - core.now) / 1000) : 0
  let seconds = core.capacity > 0 ? work / core.capacity : Infinity
  if (booting > 0 && seconds > bootLeft) seconds = (work + more * bootLeft) / (core.capacity + more)
  // Who has waited for long, whatever the sums say, is taken to wait as long again.
  const hereMs = record.attempt === 0 ? core.now - record.arrivedAt : 0
  return Math.min(longestWaitMs, Math.max(seconds * 1000, hereMs))
}

function priceOf({ memoryMb, prices }: OverflowSpec, ms: number): number {
  return prices.request + (memoryMb / 1024) * (ms / 1000) * prices.gbSecond
}

function meanCores({ ready, cores }: Core): number {
  return ready > 0 ? cores / ready : 1
}

/** Prices in reasons need no more. */
function digits(value: number): number {
  return Number(value.toPrecision(4))
}
