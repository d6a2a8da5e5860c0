/**
 * HillClimbing's placement: the worker with the least work, but one that has jobs takes no more than a limit. A job
 * that fits nowhere has a worker launched for it, and goes to the first that can take it. If none can be launched, and
 * the job has waited long, the worker with the least work takes no other jobs until it is empty: small jobs, which
 * always find room, would otherwise keep a large one waiting forever.
 */

import type { Accepts } from '../../brain/jobs/eligible.ts'
import { workIn } from '../../brain/schedule/least-work.ts'
import { OpenWorkers } from '../../brain/schedule/open-workers.ts'
import {
  type FleetFacts,
  hasRoom,
  type SchedulerFactory,
  type Verdict,
} from '../../brain/schedule/scheduler.ts'
import type { JobRecord, WorkerRecord } from '../../brain/state.ts'

export interface CappedOptions {
  /** The most work of a worker that has more than one job. */
  mostWork?: number
  /** A queued job is placed again after this time. */
  againMs?: number
  /** A worker is reserved for a job that has waited this long. */
  keepAfterMs?: number
}

/** Its authors measured 498,081,995 units and 6 min 32 s for a breadth-first search of the largest map. */
export const cappedDefaults = { mostWork: 500_000_000, againMs: 10_000, keepAfterMs: 60_000 } as const

export const leastWorkCapped: SchedulerFactory<CappedOptions> = ({ accepts, fleet, spec }) => {
  const { mostWork, againMs, keepAfterMs } = { ...cappedDefaults, ...spec }
  const open = new OpenWorkers(workIn)
  const fits = (worker: WorkerRecord, record: JobRecord) =>
    !isReserved(worker, record, fleet) &&
    (worker.jobs.length === 0 || workIn(worker) + record.job.work <= mostWork)
  const mayTake = (worker: WorkerRecord, record: JobRecord) => accepts(worker, record) && fits(worker, record)

  const queue = (record: JobRecord, now: number): Verdict => {
    const facts = { work: record.job.work, mostWork, openWorkers: open.size }
    const again = now + againMs
    if (record.awaits !== undefined && fleet.isBooting(record.awaits))
      return { reason: { code: 'own-launch', ...facts }, again }
    if (fleet.room() > 0)
      return { reason: { code: 'own-launch', ...facts }, launch: { code: 'over-cap', ...facts }, again }
    const hasWaited = now - record.arrivedAt >= keepAfterMs
    const kept = hasWaited ? reserve(open, record, accepts, fleet) : undefined
    return { reason: { code: 'over-cap', ...facts, ...(kept && { kept: kept.id }) }, again }
  }

  return {
    name: 'least-work-capped',
    rank: () => 0,
    refile: (worker) => open.refile(worker),
    place(record, now) {
      const worker = open.firstFor(record, mayTake)
      if (worker) return { worker, reason: { code: 'least-work', jobs: worker.jobs.length } }
      return queue(record, now)
    },
    fits,
    takes: hasRoom,
    figuresOf: (worker) => ({
      requests: worker.jobs.length,
      work: workIn(worker),
      marked: worker.state === 'draining',
    }),
  }
}

/** For another queued job. Once the worker is empty the oldest queued job takes it, whichever that is. */
function isReserved({ keptFor, jobs }: WorkerRecord, { job }: JobRecord, fleet: FleetFacts): boolean {
  return keptFor !== undefined && keptFor !== job.id && jobs.length > 0 && fleet.isWaiting(keptFor)
}

/** At most one worker for each job. */
function reserve(
  open: OpenWorkers,
  record: JobRecord,
  accepts: Accepts,
  fleet: FleetFacts,
): WorkerRecord | undefined {
  const kept = open.first(({ keptFor }) => keptFor === record.job.id)
  if (kept && accepts(kept, record)) return kept
  // The job has failed there.
  if (kept) kept.keptFor = undefined
  const worker = open.first(
    (candidate) => accepts(candidate, record) && !isReserved(candidate, record, fleet),
  )
  if (worker) worker.keptFor = record.job.id
  return worker
}
