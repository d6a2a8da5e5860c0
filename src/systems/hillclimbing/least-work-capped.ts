/**
 * The worker with the least work, but one that has jobs gets no more than a bound: what fits nowhere has a worker
 * launched for it, and goes to whichever can take it first. Where none can be launched, for who has waited for long the
 * worker with the least work is kept until it is empty: a large job would wait for ever beside small ones, which always
 * find room.
 */

import { workIn } from '../../brain/schedule/least-work.ts'
import { OpenWorkers } from '../../brain/schedule/open-workers.ts'
import type { SchedulerFactory } from '../../brain/schedule/scheduler.ts'
import type { JobRecord, WorkerRecord } from '../../brain/state.ts'

export const leastWorkCapped: SchedulerFactory = ({ accepts, fleet, spec }) => {
  const { mostWork = 500_000_000, againMs = 1000, keepAfterMs = 60_000 } = spec
  const open = new OpenWorkers(workIn)

  /** Once it is empty the oldest has it, whoever that is. */
  const isKept = ({ keptFor, jobs }: WorkerRecord, { job }: JobRecord) =>
    keptFor !== undefined && keptFor !== job.id && jobs.length > 0 && fleet.isWaiting(keptFor)
  const fits = (worker: WorkerRecord, record: JobRecord) =>
    !isKept(worker, record) && (worker.jobs.length === 0 || workIn(worker) + record.job.work <= mostWork)
  const mayTake = (worker: WorkerRecord, record: JobRecord) => accepts(worker, record) && fits(worker, record)

  /** One worker for each job that has nothing else to hope for. */
  const keep = (record: JobRecord, now: number) => {
    if (now - record.arrivedAt < keepAfterMs) return undefined
    const has = open.first(({ keptFor }) => keptFor === record.job.id)
    if (has && accepts(has, record)) return has
    // It has failed there: that one is kept for nobody.
    if (has) has.keptFor = undefined
    const worker = open.first((candidate) => accepts(candidate, record) && !isKept(candidate, record))
    if (worker) worker.keptFor = record.job.id
    return worker
  }

  return {
    name: 'least-work-capped',
    rank: () => 0,
    refile: (worker) => open.refile(worker),
    place(record, now) {
      const worker = open.firstFor(record, mayTake)
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
