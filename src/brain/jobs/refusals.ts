/** Adds to each rejection the time after which the request may be sent again, where that makes sense. */

import { thousandths } from '../../lib/quantities.ts'
import { leftOf } from '../../lib/retry-times.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { isRunning, remainingWork } from './mirror.ts'
import { type BacklogWork, type ComingFleet, msToDo, toldMs } from './retry-after.ts'
import { nominalWork } from './times.ts'

/** Until a worker has booted. Boots of local processes are faster, those of machines slower. */
const guessedBootMs = 10_000
/** The backlog is added up at most once in this time: in a flood, most requests are rejected. */
const backlogEveryMs = 100

/** The reason with `retryAfterMs`. The same reason: sending the request again would be pointless, or the reason says when. */
export function withRetryAfter(core: Core, record: JobRecord, reason: Reason): Reason {
  if (reason.retryAfterMs !== undefined) return reason
  const ms = waitFor(core, record, reason)
  return ms === undefined ? reason : { ...reason, retryAfterMs: toldMs(ms, record.seq) }
}

function waitFor(core: Core, record: JobRecord, reason: Reason): number | undefined {
  const { queued, placed, running } = backlogOf(core)
  const fleet = comingFleet(core)
  switch (reason.code) {
    case 'queue-full':
      return msToRoom(core, record, fleet)
    // The fleet must be able to start all that is queued, the request itself included, within the limit.
    case 'waited':
      return msToDo(queued, fleet) - Number(reason.waitMs)
    case 'dropped':
      return msToDo(queued, fleet) - Number(reason.limitMs)
    // The process has to lose this part of what it holds.
    case 'overloaded':
      return msToDo((queued + placed) * (Number(reason.pressurePercent) / 100), fleet)
    case 'retries':
      return msToDo(queued, fleet)
    // A program takes about as long to start as a worker.
    case 'unready':
      return Math.max(bootMs(core), msToDo(queued, fleet))
    case 'no-time-for-all':
      return Number(reason.togetherMs) - Number(reason.leftMs)
    case 'no-time':
    case 'deadline':
      if (!lostToQueue(core, record, reason)) return undefined
      return msToDo(running + Math.max(0, queued - nominalWork(record.job, record.expected)), fleet)
    default:
      return undefined
  }
}

/** A running job that ends leaves a place in the queue; requests that were rejected before may come back first. */
function msToRoom(core: Core, { job }: JobRecord, fleet: ComingFleet): number {
  const { queued, running } = backlogOf(core)
  const { size } = core.queue
  const excess = size > 0 ? Math.max(0, size - core.limits.queue) * (queued / size) : 0
  const before = core.returns.workAt(core.now, fleet.workPerSecond)
  core.returns.add(nominalWork(job), queued)
  return msToDo(running + excess + before, fleet)
}

/** True: the deadline was long enough for the job, which lost its time in the queue. */
function lostToQueue(core: Core, { job, arrivedAt, attempts }: JobRecord, reason: Reason): boolean {
  if (attempts > 0 || core.now === arrivedAt) return false
  return reason.code === 'deadline' || job.deadlineAt! - arrivedAt >= Number(reason.needMs)
}

function backlogOf(core: Core): BacklogWork {
  const { backlog, now } = core
  if (backlog.at >= 0 && now - backlog.at < backlogEveryMs) return backlog
  Object.assign(backlog, { at: now, queued: 0, placed: 0, running: 0 })
  for (const { job, attempt, expected } of core.jobs.values()) {
    if (!attempt) backlog.queued += nominalWork(job, expected)
    else if (!attempt.inFunction && attempt.worker.state === 'ready') {
      const left = nominalWork(job, remainingWork(attempt, now))
      backlog.placed += left
      if (isRunning(core, attempt)) backlog.running += left
    }
  }
  return backlog
}

/** The workers that are ready, and the launches. */
function comingFleet(core: Core): ComingFleet {
  const { cores, capacity, coresEach, fastest, launches, launchNotBefore, now } = core
  const workPerSecond = coresEach * (capacity > 0 ? capacity / cores : fastest)
  const usualMs = bootMs(core)
  const joins = [...launches.values()].map(({ at }) => leftOf(usualMs, now - at))
  // Without any worker, a job brings one as soon as launches may begin again.
  if (capacity === 0 && joins.length === 0) joins.push(Math.max(0, launchNotBefore - now) + usualMs)
  // Before the first worker only the time of its boot is known.
  if (workPerSecond === 0)
    return { workPerSecond: 0, coming: [{ inMs: Math.min(...joins), workPerSecond: Infinity }] }
  return { workPerSecond: capacity, coming: joins.map((inMs) => ({ inMs, workPerSecond })) }
}

function bootMs({ boots }: Core): number {
  return thousandths(boots.percentile(50) ?? guessedBootMs)
}
