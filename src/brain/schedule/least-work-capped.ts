/**
 * The worker with the least work, but one that has jobs gets no more than a bound: what fits nowhere has a worker
 * launched for it, and goes to whichever can take it first. Where none can be launched, for who has waited for long the
 * worker with the least work is kept until it is empty: a large job would wait for ever beside small ones, which always
 * find room.
 */

import { type Entry, Heap } from '../../heap.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver, type SchedulerFactory } from './scheduler.ts'

export const leastWorkCapped: SchedulerFactory = ({ accepts, fleet, spec }) => {
  const { mostWork = 500_000_000, againMs = 1000, keepAfterMs = 60_000 } = spec
  const open = new Heap<WorkerRecord>()
  const empty = new EmptyWorkers()

  /** Once it is empty the oldest has it, whoever that is. */
  const isKept = ({ keptFor, jobs }: WorkerRecord, { job }: JobRecord) =>
    keptFor !== undefined && keptFor !== job.id && jobs.length > 0 && fleet.isWaiting(keptFor)
  const fits = (worker: WorkerRecord, record: JobRecord) =>
    !isKept(worker, record) && (worker.jobs.length === 0 || workIn(worker) + record.job.work <= mostWork)
  const mayTake = (worker: WorkerRecord, record: JobRecord) => accepts(worker, record) && fits(worker, record)

  /** One worker for each job that has nothing else to hope for. */
  const keep = (record: JobRecord, now: number) => {
    if (now - record.arrivedAt < keepAfterMs) return undefined
    const isFree = (worker: WorkerRecord) => accepts(worker, record) && !isKept(worker, record)
    const has = open.find(({ keptFor }) => keptFor === record.job.id, passOver)
    const worker = has ?? open.find(isFree, passOver)
    if (worker) worker.keptFor = record.job.id
    return worker
  }

  return {
    name: 'least-work-capped',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      const entry = worker.filed as Entry<WorkerRecord> | undefined
      if (isOpen(worker)) {
        if (entry) open.put(entry, workIn(worker), worker.placedStamp)
        else worker.filed = open.push(worker, workIn(worker), worker.placedStamp)
      } else if (entry) {
        open.remove(entry)
        worker.filed = undefined
      }
    },
    place(record, now) {
      const isFor = (worker: WorkerRecord) => mayTake(worker, record)
      const worker =
        open.find(isFor, passOver) ?? (open.size > passOver ? empty.first(record, mayTake) : undefined)
      if (worker) return { worker, reason: { code: 'least-work', jobs: worker.jobs.length } }
      const facts = { work: record.job.work, mostWork, openWorkers: open.size }
      const again = now + againMs
      if (record.awaits !== undefined && fleet.isBooting(record.awaits))
        return { reason: { code: 'own-launch', ...facts }, again }
      if (fleet.room() > 0) {
        return { reason: { code: 'own-launch', ...facts }, launch: { code: 'over-cap', ...facts }, again }
      }
      const kept = keep(record, now)
      return { reason: { code: 'over-cap', ...facts, ...(kept && { kept: kept.id }) }, again }
    },
    fits,
    takes: (worker) => ({ code: 'room', jobs: worker.jobs.length, slots: worker.slots }),
    tells: (worker) => ({
      requests: worker.jobs.length,
      work: workIn(worker),
      marked: worker.state === 'draining',
    }),
    save: () => null,
    load: () => {},
  }
}

/** As far as its jobs were heard of last. */
export function workIn({ jobs }: WorkerRecord): number {
  let work = 0
  for (const { expected, done } of jobs) work += Math.max(0, expected - done)
  return work
}
