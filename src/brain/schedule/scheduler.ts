/** Scheduling: where and when does a job start? One file per policy. */

import type { Random } from '../../lib/random.ts'
import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'
import type { ClassLimits } from '../../systems/cloudprime/classes.ts'
import type { Accepts } from '../jobs/eligible.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'

/** Where a job goes now; without a worker it waits. */
export interface Verdict {
  worker?: WorkerRecord
  reason: Reason
  /** If it still waits at this time, it is to be placed anew. */
  again?: number
  /** A worker is launched for it. */
  launch?: Reason
}

/**
 * A policy. It keeps its own index of workers and never walks them all: `refile` is called for each worker
 * that changed.
 */
export interface Scheduler {
  readonly name: string
  /** True: ranks are by size, so that larger jobs of the queue wait for smaller ones. */
  readonly bySize?: boolean
  /** A job's rank in the queue: the smallest goes first, equals in order of arrival. */
  rank(record: JobRecord): number
  /** This worker's readiness, room or jobs changed. It may have come, or be gone. */
  refile(worker: WorkerRecord): void
  /** A job has arrived, or has come back. Impatient: it does not wait for anything if it can start. */
  place(record: JobRecord, now: number, impatient?: boolean): Verdict
  /** The job waits now, by this verdict; if a worker was launched for it, `awaits` is set. */
  waits?(record: JobRecord, verdict: Verdict): void
  /** The job waits no more: it is in a worker's or a function's hands, or over. It need not have waited. */
  leaves?(record: JobRecord): void
  /** Of jobs in the queue: may this worker have it? Those that it may not are passed over. Default: yes. */
  fits?(worker: WorkerRecord, record: JobRecord): boolean
  /** True: by its rule a job may wait beside a worker that could take it. */
  readonly patient?: boolean
  /** The worker has a slot and may take this job, the first in the queue: shall it start there? */
  takes(worker: WorkerRecord, record: JobRecord, now: number): Reason | undefined
  /** The worker has answered the job, which is still in its hands. */
  ended?(worker: WorkerRecord, record: JobRecord, now: number): void
  /** What else people may want to know of a worker under this policy, by name. */
  tells?(worker: WorkerRecord): Figures
  /** What the index cannot be rebuilt from: `refile` of all workers comes before `load`. */
  save(): unknown
  load(saved: unknown, worker: (id: string) => WorkerRecord): void
}

/** What every policy is given. */
export interface SchedulerParts {
  accepts: Accepts
  random: Random
  spec: PlacingSpec
  fleet: FleetFacts
}

/** Constants of policies that have some. */
export interface PlacingSpec {
  /** The most work that a worker may have in hand, for policies that bound it. */
  mostWork?: number
  /** Of `class-limits`. */
  classes?: Partial<ClassLimits>
  /** Of `pack-spread`: classes by work, the smallest first; the last has no bound. */
  workClasses?: readonly WorkClass[]
  /** Of `pack-spread`: shares of `mostWork`. Below the first jobs are packed, above the second spread. */
  packBelow?: number
  spreadAbove?: number
  /** The most jobs that a worker may have in hand, likewise. */
  mostJobs?: number
  /** Of those that let jobs wait: after so long such a job is placed anew. */
  againMs?: number
  /** Of `least-work-capped`: for who has waited so long a worker is kept. */
  keepAfterMs?: number
}

export interface WorkClass {
  name: string
  mostWork: number | null
}

/** What schedulers may know of the fleet besides its workers. */
export interface FleetFacts {
  ready(): number
  /** Workers that are being launched. */
  booting(): number
  isBooting(launch: string): boolean
  /** True: the job is in the queue. */
  isWaiting(job: string): boolean
  /** How many more may be launched now. */
  room(): number
}

export type SchedulerFactory = (parts: SchedulerParts) => Scheduler

/** How many workers that cannot take a job are passed over before it is left to wait. */
export const passOver = 64
