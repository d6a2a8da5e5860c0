/**
 * Shortest remaining work first, with preemption. A job starts where a core is free; else it takes the core of a job
 * that has much more left than it needs; else it waits unbound, so that the first worker that can take it does.
 *
 * A preempted job stays on its worker, and so does one that has begun. That is why a job must be much shorter to take
 * a core, why not only the one with the most left is looked at (where many wait already, one more waits long), and why
 * it waits for a moment if a core is about to be free anyway.
 */

import { type Entry, Heap } from '../../lib/heap.ts'
import { thousandths } from '../../lib/quantities.ts'
import { rankOf, standsIn } from '../../model/discipline.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import { sigmaOf } from '../../model/revision.ts'
import { doneWork, expectedEnd } from '../jobs/mirror.ts'
import { type Attempt, isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver, type SchedulerFactory } from './scheduler.ts'

/** So many workers are compared, those whose longest job has the most left. */
const compared = 8
/** What a millisecond of the preempted job's remaining work is worth in milliseconds of delay for others. */
const worth = 0.03
/** A job waits this part of what it needs for a core that is about to be free, before it takes one. */
const patience = 0.05
/** Times of the day are not exact to the last digit: less than this is no difference. */
const grainMs = 0.01
/** More than any time. */
const tierStep = 1e15

interface Filed {
  free: Entry<WorkerRecord>
  /** Keyed by the end of the job that would be preempted there, latest first. */
  busy: Entry<WorkerRecord>
  /** Keyed by the end of the job that ends first there. */
  ending: Entry<WorkerRecord>
}

export const srpt: SchedulerFactory = ({ accepts }) => {
  const free = new Heap<WorkerRecord>()
  const busy = new Heap<WorkerRecord>()
  const ending = new Heap<WorkerRecord>()
  let open = 0
  const empty = new EmptyWorkers()

  /** Of the busy workers that may take it, the one where a core for it delays others least. */
  const best = (record: JobRecord, now: number): { taking?: Taking; looked: number } => {
    let found: Taking | undefined
    let looked = 0
    busy.find((worker) => {
      if (!accepts(worker, record)) return false
      looked++
      const taking = takingOn(worker, record, now, open)
      // Those that follow have even less left.
      if (!taking) return true
      if (!found || taking.cost < found.cost) found = taking
      return looked === compared
    }, passOver)
    return found ? { taking: found, looked } : { looked }
  }

  /** Until when it is worth to wait for a core that is about to be free; undefined: no core is. */
  const waitsUntil = (record: JobRecord, needMs: number, now: number): number | undefined => {
    const until = record.arrivedAt + patience * needMs
    return open > 1 && until > now && ending.topKey() < until && standsIn(record, 0) >= 0 ? until : undefined
  }

  return {
    name: 'srpt',
    bySize: true,
    rank: (record) => rankOf(record, 0, record.expected),
    refile(worker) {
      empty.refile(worker)
      let places = worker.filed as Filed | undefined
      if (!isOpen(worker)) {
        if (!places) return
        free.remove(places.free)
        busy.remove(places.busy)
        ending.remove(places.ending)
        worker.filed = undefined
        open--
        return
      }
      if (!places) {
        const entry = (): Entry<WorkerRecord> => ({ item: worker, at: -1 })
        places = { free: entry(), busy: entry(), ending: entry() }
        worker.filed = places
        open++
      }
      if (worker.running < worker.cores) {
        busy.remove(places.busy)
        ending.remove(places.ending)
        // The fastest first; among equals the least busy.
        free.put(places.free, -worker.workPerSecond, worker.running * 2 ** 32 + worker.number)
        return
      }
      free.remove(places.free)
      ending.put(places.ending, firstEnd(worker), worker.number)
      const victim = lastRunning(worker)
      if (victim) busy.put(places.busy, -place(victim), worker.number)
      else busy.remove(places.busy)
    },
    place(record, now, impatient = false) {
      let idle = free.find((worker) => accepts(worker, record), passOver)
      if (!idle && free.size > passOver) idle = empty.first(record, accepts)
      const { taking, looked } =
        idle && isFastest(idle, busy) ? { taking: undefined, looked: 0 } : best(record, now)
      if (idle && !(taking && isSooner(taking, idle, record))) return { worker: idle, reason: coreFree(idle) }
      if (taking) {
        const again = impatient ? undefined : waitsUntil(record, taking.needMs, now)
        if (again === undefined) return { worker: taking.worker, reason: reasonFor(taking, record, now) }
        return { reason: coreSoon(ending.topKey() - now, taking), again }
      }
      if (looked === 0) return { reason: { code: 'no-room', openWorkers: open } }
      return { reason: { code: 'all-shorter', work: record.job.work, openWorkers: open } }
    },
    takes(worker, record, now) {
      if (worker.running < worker.cores) return coreFree(worker)
      const taking = takingOn(worker, record, now, open)
      if (!taking || waitsUntil(record, taking.needMs, now) !== undefined) return undefined
      return reasonFor(taking, record, now)
    },
    save: () => null,
    load: () => {},
  }
}

/** A core that a job may take from another. */
interface Taking {
  worker: WorkerRecord
  victim: Attempt
  needMs: number
  leftMs: number
  /** The delay of others, in all, less what it is worth to delay the one that has the most left. */
  cost: number
}

function takingOn(
  worker: WorkerRecord,
  record: JobRecord,
  now: number,
  openWorkers: number,
): Taking | undefined {
  const victim = lastRunning(worker)
  if (!victim) return undefined
  const needMs = (record.expected / worker.workPerSecond) * 1000
  const leftMs = expectedEnd(victim) - now
  const stands = standsIn(record, 0)
  const victimStands = standsIn(victim.record, doneWork(victim, now))
  // A turn leaves a job behind that has begun: not where it would fill the slots that short ones need.
  if (record.turn === 'taken' && worker.jobs.length * 2 > worker.slots) return undefined
  if (stands > victimStands) return undefined
  if (stands === victimStands) {
    const factor = muchLonger(record.job, openWorkers) * crowding(worker)
    if (stands < 0 ? record.due >= victim.record.due : needMs * factor >= leftMs - grainMs) return undefined
  }
  // The job that makes way, and those that wait there already, wait for it; each core does its part.
  const waiting = worker.jobs.length - worker.cores + 1
  return { worker, victim, needMs, leftMs, cost: (needMs * waiting) / worker.cores - worth * leftMs }
}

/**
 * A job takes the core of one that has this many times as much left: twice, but one of which nobody knows how long it
 * takes may as well be short, and is better tried. Where there is but one worker, jobs have nowhere else to go.
 */
function muchLonger(job: Job, openWorkers: number): number {
  return openWorkers === 1 ? 1 : 1 + Math.exp(-((sigmaOf(job) ?? 0) ** 2))
}

/** Where more than half of the slots are taken, a job must be the shorter the fewer are left: the last are for the shortest. */
function crowding({ slots, jobs }: WorkerRecord): number {
  return Math.max(1, slots / 2 / (slots - jobs.length))
}

/** True: no busy worker is faster, as far as the first of them tells. */
function isFastest(idle: WorkerRecord, busy: Heap<WorkerRecord>): boolean {
  const other = busy.top()
  return !other || other.workPerSecond <= idle.workPerSecond
}

/** It is done sooner on a faster core, taken, and even with the delay of the one that makes way. */
function isSooner({ needMs }: Taking, idle: WorkerRecord, { job }: JobRecord): boolean {
  return needMs * 2 < (job.work / idle.workPerSecond) * 1000
}

/** Where a job stands among those that may have to make way: last is largest. */
function place(victim: Attempt): number {
  const stands = standsIn(victim.record, victim.done)
  return stands * tierStep + (stands < 0 ? victim.record.due : expectedEnd(victim))
}

/** Of the jobs that run there and may be preempted, the one that goes last. */
function lastRunning(worker: WorkerRecord): Attempt | undefined {
  let victim: Attempt | undefined
  let latest = -Infinity
  for (const attempt of worker.jobs) {
    if (!attempt.running || !attempt.preemptible) continue
    const at = place(attempt)
    if (at > latest) {
      latest = at
      victim = attempt
    }
  }
  return victim
}

function firstEnd(worker: WorkerRecord): number {
  let first = Infinity
  for (const attempt of worker.jobs) if (attempt.running) first = Math.min(first, expectedEnd(attempt))
  return first
}

/** The one that ends first may be late already. */
function coreSoon(ms: number, { needMs, victim }: Taking): Reason {
  const freeMs = thousandths(Math.max(0, ms))
  return { code: 'core-soon', freeMs, needMs: thousandths(needMs), insteadOf: victim.job.id }
}

function coreFree(worker: WorkerRecord): Reason {
  return { code: 'core-free', running: worker.running, cores: worker.cores }
}

function reasonFor({ victim, needMs, leftMs }: Taking, record: JobRecord, now: number): Reason {
  const facts = { needMs: thousandths(needMs), leftMs: thousandths(leftMs), preempts: victim.job.id }
  const stands = standsIn(record, 0)
  if (stands < 0) return { code: 'goes-first', ...facts, ...whyFirst(record, now) }
  return { code: stands < standsIn(victim.record, doneWork(victim, now)) ? 'fairer' : 'shorter', ...facts }
}

function whyFirst({ turn, arrivedAt, job: { deadlineAt = 0 } }: JobRecord, now: number): Partial<Reason> {
  return turn === 'taken'
    ? { hereMs: thousandths(now - arrivedAt) }
    : { deadlineMs: thousandths(deadlineAt - now) }
}
