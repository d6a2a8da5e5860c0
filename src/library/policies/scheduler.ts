/** What a scheduler of one's own sees and returns. */

import type { FleetFacts } from '../../brain/schedule/scheduler.ts'
import type { Random } from '../../lib/random.ts'
import type { Job } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'

/** A job that is to be placed, or waits in the queue. */
export interface ScheduledJob {
  readonly job: Readonly<Job>
  /** Order of arrival. */
  readonly seq: number
  /** Milliseconds, on the clock of `now`. */
  readonly arrivedAt: number
  readonly client: string
  /** The work that it is expected to need. */
  readonly expected: number
  /** Attempts begun so far. */
  readonly attempts: number
}

/** A job that a worker holds. */
export interface HeldJob {
  readonly job: Readonly<Job>
  /** True: it has a core now. */
  readonly running: boolean
  /** The work that it is expected to need in all, and the work it had done by the last report. */
  readonly expected: number
  readonly done: number
}

/** A worker that a job can be given to. */
export interface ScheduledWorker {
  readonly id: string
  readonly cores: number
  /** Work that one core does in a second. */
  readonly workPerSecond: number
  readonly memoryMb: number
  /** Predicted memory of its jobs. */
  readonly usedMb: number
  /** Maximum number of jobs that it holds, running and paused. */
  readonly slots: number
  /** Its jobs, in order of arrival. */
  readonly jobs: readonly HeldJob[]
  /** How many of them have a core. */
  readonly running: number
  /** When it was last given a job. */
  readonly placedAt: number
}

/** Where a job goes now. */
export interface Verdict {
  /** Must be one that `accepts` the job. Undefined: the job is queued. */
  worker?: ScheduledWorker
  /** A code with the numbers of the decision; `text`, if given, is shown to people. */
  reason: Reason
  /** If the job is still queued at this time, `place` is called again. */
  again?: number
  /** Launches a worker for the job, if the maximum allows it. */
  launch?: Reason
}

/** Decides where and when a job starts. Decisions must depend only on what the methods are given. */
export interface Scheduler {
  /** Shown in `status`, events and tables. Must differ from the names of the built-in policies. */
  readonly name: string
  /** Chooses a worker for a job that has arrived or is retried. `impatient`: start it now if any worker can. */
  place(job: ScheduledJob, now: number, impatient?: boolean): Verdict
  /** Order in the queue: the smallest goes first, equals in order of arrival. Default 0. */
  rank?(job: ScheduledJob): number
  /**
   * The worker has a free slot and may take this job, the first in the queue. Undefined: it does not start there now.
   * Default: it starts.
   */
  takes?(worker: ScheduledWorker, job: ScheduledJob, now: number): Reason | undefined
  /** Whether this worker may take this queued job; if not, the next one is tried. Default: yes. */
  fits?(worker: ScheduledWorker, job: ScheduledJob): boolean
  /** True: ranks are by size, so larger jobs in the queue wait for smaller ones. */
  readonly bySize?: boolean
  /** True: the policy may leave a job queued beside a worker that could take it. */
  readonly patient?: boolean
  /** This worker's state, room or jobs changed; it may be new, or terminated. For policies that keep an index. */
  refile?(worker: ScheduledWorker): void
  /** The worker has answered the job, and still holds it. */
  ended?(worker: ScheduledWorker, job: ScheduledJob, now: number): void
  /** Figures of a worker under this policy, for people. */
  figuresOf?(worker: ScheduledWorker): Figures
}

/** What a scheduler is made from. */
export interface SchedulerParts {
  /** Workers that are ready and reachable and have a free slot. The array is reused: do not keep or change it. */
  open(): readonly ScheduledWorker[]
  /** The one rule for whether a worker may be given a job: slot, memory, and that the job has not failed there. */
  accepts(worker: ScheduledWorker, job: ScheduledJob): boolean
  /** Seeded: the only source of chance that keeps simulations repeatable. */
  readonly random: Random
  readonly fleet: FleetFacts
}

/** Makes a scheduler. Called once for each cluster and each simulated run, and once before to check what it returns. */
export type SchedulerFactory = (parts: SchedulerParts) => Scheduler
