/**
 * CloudPrime's placement: short requests go to the worker with the fewest at once; others to the first, in that order,
 * that is not too busy and has few enough of their class. Who fits nowhere starts a worker, or waits for one.
 */

import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import { passOver, type SchedulerFactory, type Verdict } from '../../brain/schedule/scheduler.ts'
import { isOpen, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import {
  type ClassCounts,
  classLimitsOf,
  classOf,
  countClasses,
  hasPlaceFor,
  type JobClass,
} from './classes.ts'
import { Grace, type SavedGrace, type Start } from './grace.ts'

const kinds = ['short', 'intermediate', 'max'] as const

/** Where a worker stands among those that have a place for each class. */
type Filed = Partial<Record<JobClass, Entry<WorkerRecord>>>

export const classLimits: SchedulerFactory = ({ accepts, fleet, spec }) => {
  const limits = classLimitsOf(spec.classes)
  const grace = new Grace()
  /** By class: workers that have a place for one more, the one with the fewest requests first. */
  const open = {
    short: new Heap<WorkerRecord>(),
    intermediate: new Heap<WorkerRecord>(),
    max: new Heap<WorkerRecord>(),
  }
  const empty = new EmptyWorkers()
  const launched = new Map<string, WorkerRecord>()

  /** The place of whoever started the worker is kept for it: other classes do not come there meanwhile. */
  const kept = (worker: WorkerRecord): Start | undefined => {
    if (worker.launch === undefined) return undefined
    for (const start of grace.starts()) if (start.launch === worker.launch) return start
    return undefined
  }

  const spokenFor = (worker: WorkerRecord): ClassCounts => {
    const counts = countClasses(worker, limits)
    const start = kept(worker)
    if (start && start.kind !== 'short') counts[start.kind]++
    return counts
  }

  function file(worker: WorkerRecord): void {
    worker.filed ??= {}
    const filed = worker.filed as Filed
    const counts = isOpen(worker) ? spokenFor(worker) : undefined
    for (const kind of kinds) {
      const entry = filed[kind]
      if (counts && hasPlaceFor(kind, worker.cpu, counts, limits)) {
        if (entry) open[kind].put(entry, worker.jobs.length, worker.placedStamp)
        else filed[kind] = open[kind].push(worker, worker.jobs.length, worker.placedStamp)
      } else if (entry) {
        open[kind].remove(entry)
        delete filed[kind]
      }
    }
  }

  /** Whoever starts workers, the scaling policy too: one that boots is being started, and so is one in its grace period. */
  const isStarting = (now: number): boolean => {
    if (fleet.booting() > 0) return true
    for (const { launch, until } of grace.starts()) if (now < until && launched.has(launch)) return true
    return false
  }

  /** It has started a worker. Undefined: nothing came of that, so it is placed as if it had just come. */
  function ofStarter(record: Parameters<typeof accepts>[1], start: Start, now: number): Verdict | undefined {
    const worker = launched.get(start.launch)
    const boots = fleet.isBooting(start.launch)
    if (now < start.until && (worker || boots))
      return { reason: { code: 'own-worker-soon', launch: start.launch }, again: start.until }
    if (worker && accepts(worker, record))
      return { worker, reason: { code: 'own-worker', launch: start.launch } }
    if (boots)
      return { reason: { code: 'own-worker-late', launch: start.launch }, again: now + limits.graceMs }
    return undefined
  }

  function misfit(job: string, kind: JobClass, now: number): Verdict {
    const until = grace.untilOf(job)
    const facts = { class: kind, workers: fleet.ready(), queued: grace.countWithout(job) }
    if (until !== undefined && now < until)
      return { reason: { code: 'fits-nowhere', ...facts }, again: until }
    const again = now + limits.graceMs
    const isOneMore = facts.queued >= limits.mostQueued
    if ((isStarting(now) && !isOneMore) || fleet.room() === 0)
      return { reason: { code: 'fits-nowhere', ...facts, graceMs: limits.graceMs }, again }
    const launch = { code: 'misfit', ...facts, most: limits.mostQueued }
    return { reason: { code: 'starts-worker', ...facts, graceMs: limits.graceMs }, launch, again }
  }

  return {
    name: 'class-limits',
    patient: true,
    // Those that only wait for a time do not stand in the way of those that wait for a worker.
    rank: ({ job, awaits }) => (classOf(job.work, limits) === 'short' ? 0 : awaits === undefined ? 2 : 1),
    refile(worker) {
      empty.refile(worker)
      if (worker.launch !== undefined) {
        if (worker.state === 'terminated') launched.delete(worker.launch)
        else launched.set(worker.launch, worker)
      }
      file(worker)
    },
    place(record, now) {
      const { job } = record
      const kind = classOf(job.work, limits)
      const start = grace.startOf(job.id)
      const own = start && ofStarter(record, start, now)
      if (own) return own
      const suits = open[kind]
      let worker = suits.find((candidate) => accepts(candidate, record), passOver)
      if (!worker && suits.size > passOver)
        worker = empty.first(
          record,
          (each, of) => accepts(each, of) && hasPlaceFor(kind, each.cpu, spokenFor(each), limits),
        )
      if (worker)
        return {
          worker,
          reason: {
            code: 'class-fits',
            class: kind,
            jobs: worker.jobs.length,
            ...countClasses(worker, limits),
          },
        }
      if (kind === 'short') return { reason: { code: 'no-room', openWorkers: open.short.size } }
      return misfit(job.id, kind, now)
    },
    waits({ job, awaits }, { launch, again, reason }) {
      const kind = classOf(job.work, limits)
      if (kind === 'short' || again === undefined) return
      const start = grace.startOf(job.id)
      if (launch) {
        if (grace.countWithout(job.id) >= limits.mostQueued) grace.resetCount()
        grace.addStart({ job: job.id, kind, launch: awaits!, until: again, late: false })
      } else if (start && (reason.code === 'own-worker-late' || reason.code === 'own-worker-soon'))
        start.late ||= reason.code === 'own-worker-late'
      else grace.addQueued(job.id, again)
    },
    leaves({ job }) {
      const worker = launched.get(grace.leave(job.id)?.launch ?? '')
      if (worker) file(worker)
    },
    fits(worker, { job }) {
      if (classOf(job.work, limits) === 'short') return true
      const start = grace.startOf(job.id)
      return start?.late === true && start.launch === worker.launch
    },
    takes: (worker) => ({ code: 'room', jobs: worker.jobs.length, slots: worker.slots }),
    tells(worker) {
      const start = kept(worker)
      const keptFor = start ? { keptFor: start.job } : {}
      return { requests: worker.jobs.length, ...countClasses(worker, limits), ...keptFor }
    },
    save: () => grace.save(),
    load(saved) {
      grace.load(saved as SavedGrace)
      for (const worker of launched.values()) file(worker)
    },
  }
}
