/** Preemption under `srpt`: which running job a new one may preempt on a worker, and what that costs the others. */

import { thousandths } from '../../lib/quantities.ts'
import { standsIn } from '../../model/discipline.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { sigmaOf } from '../../model/revision.ts'
import { doneWork, expectedEnd, holdsCore } from '../jobs/mirror.ts'
import { speedOf } from '../jobs/times.ts'
import type { Attempt, JobRecord, WorkerRecord } from '../state.ts'
import { sharesCores } from './shared-cores.ts'

/** What a millisecond of the preempted job's remaining work is worth, in milliseconds of delay for others. */
const worth = 0.03
/** Clock times are not exact to the last digit: smaller differences do not count. */
const grainMs = 0.01
/** More than any time. */
const tierStep = 1e15

export interface Preemption {
  worker: WorkerRecord
  victim: Attempt
  /** Time that the job needs there, with the start of a slot. */
  needMs: number
  /** Of that, until a slot is ready. */
  startMs: number
  leftMs: number
  /** The total delay of other jobs, less what it is worth to delay the one with the most left. */
  cost: number
}

/** `longer`: how many times as much another job must have left. Undefined: the job may not preempt any job there. */
export function preemptionOn(
  worker: WorkerRecord,
  record: JobRecord,
  now: number,
  longer: number,
): Preemption | undefined {
  const victim = lastRunning(worker)
  if (!victim) return undefined
  const startMs = startMsOn(worker)
  const needMs = startMs + (record.expected / (worker.workPerSecond * worker.pace)) * 1000
  const leftMs = expectedEnd(victim) - now
  const stands = standsIn(record, 0)
  const victimStands = standsIn(victim.record, doneWork(victim, now))
  // A turn leaves a started job behind: not where that would fill the slots that short jobs need.
  if (record.turn === 'taken' && worker.jobs.length * 2 > worker.slots) return undefined
  if (stands > victimStands) return undefined
  if (stands === victimStands) {
    const factor = longer * crowding(worker)
    if (stands < 0 ? record.due >= victim.record.due : needMs * factor >= leftMs - grainMs) return undefined
  }
  // The preempted job and those already paused there wait for this one; all cores share the work.
  const waiting = worker.jobs.filter((attempt) => !attempt.waiting).length - worker.cores + 1
  return { worker, victim, needMs, startMs, leftMs, cost: (needMs * waiting) / worker.cores - worth * leftMs }
}

/** A start takes the core from the job that is preempted, although it does none of the work. */
function startMsOn({ slotStarts, jobs }: WorkerRecord): number {
  return slotStarts && jobs.length >= slotStarts.ready ? slotStarts.startMs : 0
}

/**
 * A job preempts one that has this many times as much left: twice, but a job with an uncertain estimate may turn out
 * short and is better tried. With a single worker any shorter job preempts, because there is nowhere else to go.
 */
export function muchLonger(job: Job, openWorkers: number): number {
  return openWorkers === 1 ? 1 : 1 + Math.exp(-((sigmaOf(job) ?? 0) ** 2))
}

/** From half-full slots on the factor grows, so that the last slots are for the shortest jobs. */
function crowding({ slots, jobs }: WorkerRecord): number {
  return Math.max(1, slots / 2 / (slots - jobs.length))
}

/** The order in which running jobs are preempted: the largest first. */
export function preemptionRank(victim: Attempt, end: number): number {
  const stands = standsIn(victim.record, victim.done)
  return stands * tierStep + (stands < 0 ? victim.record.due : end)
}

/** The first job that would be preempted there. */
function lastRunning(worker: WorkerRecord): Attempt | undefined {
  let victim: Attempt | undefined
  let latest = -Infinity
  for (const attempt of worker.jobs) {
    if (!holdsCore(attempt) || !attempt.preemptible || sharesCores(attempt)) continue
    const at = preemptionRank(attempt, expectedEnd(attempt))
    if (at > latest) {
      latest = at
      victim = attempt
    }
  }
  return victim
}

export function preemptionReason(
  { victim, needMs, startMs, leftMs }: Preemption,
  record: JobRecord,
  now: number,
): Reason {
  const stands = standsIn(record, 0)
  const fairer = stands < standsIn(victim.record, doneWork(victim, now))
  const reason: Reason = {
    code: stands < 0 ? 'goes-first' : fairer ? 'fairer' : 'shorter',
    needMs: thousandths((needMs - startMs) / speedOf(record.job)),
    ...(startMs > 0 && { startMs }),
    leftMs: thousandths(leftMs / speedOf(victim.job)),
    preempts: victim.job.id,
  }
  if (stands < 0) addWhyFirst(reason, record, now)
  return reason
}

function addWhyFirst(reason: Reason, { turn, arrivedAt, job }: JobRecord, now: number): void {
  if (turn === 'taken') reason.hereMs = thousandths(now - arrivedAt)
  else reason.deadlineMs = thousandths((job.deadlineAt ?? 0) - now)
}
