/**
 * Shortest remaining work first, with preemption. A job starts where a core is free; else it takes the core of
 * the job with the most remaining work, if that has more than itself; else it waits unbound, so that the first
 * worker that can take it does. A preempted job stays on its worker.
 */

import { type Entry, Heap } from '../../heap.ts'
import type { Reason } from '../../model.ts'
import { expectedEnd } from '../mirror.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver, type SchedulerFactory } from './scheduler.ts'

interface Filed {
  free: Entry<WorkerRecord>
  /** Keyed by the end of the job that would be preempted there, latest first. */
  busy: Entry<WorkerRecord>
}

export const srpt: SchedulerFactory = ({ accepts }) => {
  const free = new Heap<WorkerRecord>()
  const busy = new Heap<WorkerRecord>()
  let open = 0
  const empty = new EmptyWorkers()

  return {
    name: 'srpt',
    rank: (record) => record.job.work,
    refile(worker) {
      empty.refile(worker)
      let places = worker.filed as Filed | undefined
      if (!isOpen(worker)) {
        if (!places) return
        free.remove(places.free)
        busy.remove(places.busy)
        worker.filed = undefined
        open--
        return
      }
      if (!places) {
        places = { free: { item: worker, at: -1 }, busy: { item: worker, at: -1 } }
        worker.filed = places
        open++
      }
      if (worker.running < worker.cores) {
        busy.remove(places.busy)
        // The fastest first; among equals the least busy.
        free.put(places.free, -worker.workPerSecond, worker.running * 2 ** 32 + worker.number)
        return
      }
      free.remove(places.free)
      const victim = longestRunning(worker)
      if (victim) busy.put(places.busy, -expectedEnd(victim), worker.number)
      else busy.remove(places.busy)
    },
    place(record, now) {
      let idle = free.find((worker) => accepts(worker, record), passOver)
      if (!idle && free.size > passOver) idle = empty.first(record, accepts)
      if (idle) return { worker: idle, reason: coreFree(idle) }
      const worker = busy.find((candidate) => accepts(candidate, record), passOver)
      if (!worker) return { reason: { code: 'no-room', openWorkers: open } }
      const reason = shorter(worker, record, now)
      if (reason) return { worker, reason }
      return { reason: { code: 'all-shorter', work: record.job.work, openWorkers: open } }
    },
    takes(worker, record, now) {
      return worker.running < worker.cores ? coreFree(worker) : shorter(worker, record, now)
    },
    save: () => null,
    load: () => {},
  }
}

function coreFree(worker: WorkerRecord): Reason {
  return { code: 'core-free', running: worker.running, cores: worker.cores }
}

/** Why this job may take a core from the worker's longest, if it may. */
function shorter(worker: WorkerRecord, record: JobRecord, now: number): Reason | undefined {
  const victim = longestRunning(worker)
  if (!victim) return undefined
  const leftMs = expectedEnd(victim) - now
  const needMs = (record.job.work / worker.workPerSecond) * 1000
  if (needMs >= leftMs) return undefined
  return { code: 'shorter', needMs: round(needMs), leftMs: round(leftMs), preempts: victim.job.id }
}

function longestRunning(worker: WorkerRecord): JobRecord | undefined {
  let victim: JobRecord | undefined
  let latest = -Infinity
  for (const record of worker.jobs) {
    if (!record.running || !record.preemptible) continue
    const end = expectedEnd(record)
    if (end > latest) {
      latest = end
      victim = record
    }
  }
  return victim
}

/** Reasons are read by people: thousandths of a millisecond will do. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
