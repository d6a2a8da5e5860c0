/**
 * EcoWork's placement: the worker with the least work. While workers are being launched the fleet counts as overloaded:
 * then a worker takes a job only within limits of jobs and work. A job that fits nowhere is queued, or overflows.
 */

import { workIn } from '../../brain/schedule/least-work.ts'
import { OpenWorkers } from '../../brain/schedule/open-workers.ts'
import { hasRoom, type SchedulerFactory } from '../../brain/schedule/scheduler.ts'
import type { JobRecord, WorkerRecord } from '../../brain/state.ts'

export interface GuardedOptions {
  /** The most work, and the most jobs, of a worker while others are being launched. */
  mostWork?: number
  mostJobs?: number
  /** A queued job is placed again after this time. */
  againMs?: number
}

export const usualAgainMs = 1000

export const leastWorkGuarded: SchedulerFactory<GuardedOptions> = ({ accepts, fleet, spec }) => {
  const { mostWork = Infinity, mostJobs = Infinity, againMs = usualAgainMs } = spec
  const open = new OpenWorkers(workIn)

  /** An idle worker takes any job: one that exceeds the limits by itself would fit nowhere. */
  const fits = (worker: WorkerRecord, { job }: JobRecord) => {
    const jobs = worker.jobs.length
    if (jobs === 0 || fleet.booting() === 0) return true
    return jobs + 1 <= mostJobs && workIn(worker) + job.work <= mostWork
  }
  const mayTake = (worker: WorkerRecord, record: JobRecord) => accepts(worker, record) && fits(worker, record)

  return {
    name: 'least-work-guarded',
    rank: () => 0,
    refile: (worker) => open.refile(worker),
    place(record, now) {
      const worker = open.firstFor(record, mayTake)
      if (worker) return { worker, reason: { code: 'least-work', jobs: worker.jobs.length } }
      const facts = { work: record.job.work, openWorkers: open.size, booting: fleet.booting() }
      return { reason: { code: 'guarded', ...facts }, again: now + againMs }
    },
    fits,
    takes: hasRoom,
    figuresOf: (worker) => ({
      requests: worker.jobs.length,
      work: workIn(worker),
      onHold: worker.state === 'draining',
      dead: worker.suspect,
    }),
  }
}
