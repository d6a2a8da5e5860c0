/**
 * Whether a job should overflow to a function: if it is done there much sooner, and that costs less than a worker for it
 * would cost and its waiting is worth.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { msOf } from '../jobs/times.ts'
import type { JobRecord } from '../state.ts'
import { forgetCold } from './learning.ts'
import type { OverflowSpec } from './overflow-spec.ts'
import { allBusy, type Overflow } from './overflow-state.ts'

/** A function must be faster than the fleet by this part of its own time, and by this time: neither is exact. */
const margin = 0.25
const leastGainMs = 20
/** A job goes to a function only if the high end of its interval takes at most this part of the function timeout. */
const safePart = 0.8
/** Worker boot time, until launches have shown it. */
const firstBootMs = 30_000
const longestWaitMs = 3_600_000
/** The high end of an unproven estimate counts up to this factor: beyond it the interval only says that nothing is known. */
const unprovenReach = 100
/** A job with this many attempts, or half the attempts it may have, is for workers. */
const mostTries = 6

/** Why the job should go to a function now; undefined: it should not. */
export function worthFunction(core: Core, record: JobRecord): Reason | undefined {
  const { overflow } = core
  if (!overflow || !mayGo(core, overflow, record)) return undefined
  return overflow.spec.rule === 'small' ? isSmall(overflow, record) : pays(core, overflow, record)
}

/** Why a function takes a job whose deadline workers cannot meet; undefined: it cannot meet it either. */
export function functionInTime(core: Core, record: JobRecord): Reason | undefined {
  const { overflow } = core
  if (!overflow || !mayGo(core, overflow, record)) return undefined
  const functionMs = timeInFunction(overflow, record.job, core.now)
  return { code: 'overflow-deadline', functionMs: thousandths(functionMs) }
}

/** A core is about to be free for the job. Under the rule `small` that does not count. */
export function waitsForCore({ overflow }: Core, isPatient: boolean): boolean {
  return isPatient && overflow?.spec.rule === 'pays'
}

function isSmall({ spec }: Overflow, { job }: JobRecord): Reason | undefined {
  const { mostWork } = spec
  return job.work <= mostWork ? { code: 'overflow-small', work: job.work, mostWork } : undefined
}

function pays(core: Core, overflow: Overflow, record: JobRecord): Reason | undefined {
  const { spec } = overflow
  const { job } = record
  const functionMs = timeInFunction(overflow, job, core.now)
  const workerMs = msOf(job, job.work, core.fastest || spec.workPerSecond) * overflow.fleetPace
  const waitMs = expectedWaitMs(core, overflow, record)
  const soonerMs = waitMs + workerMs - functionMs
  if (soonerMs < Math.max(leastGainMs, margin * functionMs)) return undefined
  const { workerHour, waitingHour } = spec.prices
  const price = priceOf(spec, functionMs)
  const worth = (workerMs * (workerHour / meanCores(core)) + soonerMs * waitingHour) / 3_600_000
  if (price >= worth) return undefined
  const times = { waitMs: thousandths(waitMs), functionMs: thousandths(functionMs) }
  return { code: 'overflow', ...times, price: digits(price), worth: digits(worth) }
}

function mayGo(core: Core, overflow: Overflow, record: JobRecord): boolean {
  const { job } = record
  if (core.now < overflow.notBefore || allBusy(overflow)) return false
  const { fleetOnly, retryAt } = record.functions!
  const tries = Math.min(mostTries, core.limits.attempts / 2)
  if (fleetOnly || retryAt > 0 || record.attempts >= tries || !fits(overflow, job)) return false
  return job.deadlineAt === undefined || core.now + timeInFunction(overflow, job, core.now) < job.deadlineAt
}

/** A function cannot ask for permission to start, so a job that must not be repeated does not go there. */
function fits({ spec, pace, coldMs }: Overflow, job: Job): boolean {
  const { work, high = work, unproven, memoryMb, safeToRepeat } = job
  if (safeToRepeat === false || memoryMb > spec.memoryMb) return false
  const believed = unproven ? Math.min(high, unprovenReach * work) : high
  // The rule `small` goes by the estimate alone.
  const most = spec.rule === 'small' ? work : believed
  return coldMs + msOf(job, most, spec.workPerSecond) * pace <= safePart * spec.timeoutMs
}

/** How long the job takes in a function, from now on. */
function timeInFunction(overflow: Overflow, job: Job, now: number): number {
  forgetCold(overflow, now)
  const startMs = overflow.warm.length > 0 ? 0 : overflow.coldMs
  return startMs + msOf(job, job.work, overflow.spec.workPerSecond) * overflow.pace
}

/** How long until a worker starts the job, with the workers that are booting now and no others. */
function expectedWaitMs(core: Core, overflow: Overflow, record: JobRecord): number {
  const { backlog, spec, fleetPace } = overflow
  const bootMs = core.boots.percentile(50) ?? firstBootMs
  const work = backlog.before(record, core.scheduler.bySize ?? false) * fleetPace
  const booting = core.launches.size
  const each = core.ready > 0 ? core.capacity / core.ready : core.fastest || spec.workPerSecond
  const more = booting * each
  const oldest: { at: number } | undefined = core.launches.values().next().value
  // A launch that is overdue is expected to be overdue for as long again.
  const bootLeft = oldest ? Math.abs(oldest.at + bootMs - core.now) / 1000 : 0
  let seconds = core.capacity > 0 ? work / core.capacity : Infinity
  if (booting > 0 && seconds > bootLeft) seconds = (work + more * bootLeft) / (core.capacity + more)
  // A job that has waited is expected to wait as long again, whatever the sums say.
  const hereMs = record.attempts === 0 ? core.now - record.arrivedAt : 0
  return Math.min(longestWaitMs, Math.max(seconds * 1000, hereMs))
}

function priceOf({ memoryMb, prices }: OverflowSpec, ms: number): number {
  return prices.request + (memoryMb / 1024) * (ms / 1000) * prices.gbSecond
}

function meanCores({ ready, cores }: Core): number {
  return ready > 0 ? cores / ready : 1
}

/** Prices in reasons have four significant digits. */
function digits(value: number): number {
  return Number(value.toPrecision(4))
}
