/** Scheduling: where and when does a job start? One file per policy. */

import type { Random } from '../../lib/random.ts'
import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'
import type { Accepts } from '../jobs/eligible.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'

/** Where a job goes now; without a worker it is queued. */
export interface Verdict {
  worker?: WorkerRecord
  reason: Reason
  /** If the job is still queued at this time, `place` is called again. */
  again?: number
  /** Launches a worker for the job. */
  launch?: Reason
}

/**
 * A policy. It keeps its own index of workers and never walks them all: `refile` is called for each worker
 * that changed.
 */
export interface Scheduler {
  readonly name: string
  /** True: ranks are by size, so larger jobs in the queue wait for smaller ones. */
  readonly bySize?: boolean
  /** A job's rank in the queue: the smallest goes first, equals in order of arrival. */
  rank(record: JobRecord): number
  /** True: the job is not ranked. It is queued apart from ranked jobs, in order of arrival. */
  isAside?(record: JobRecord): boolean
  /** This worker's state, room or jobs changed; it may be new, or terminated. */
  refile(worker: WorkerRecord): void
  /** A job has arrived, or is to be retried. Impatient: it starts now if any worker can start it. */
  place(record: JobRecord, now: number, impatient?: boolean): Verdict
  /** The job has been queued by this verdict; if a worker was launched for it, `awaits` is set. */
  waits?(record: JobRecord, verdict: Verdict): void
  /** The job is no longer queued: a worker or a function has it, or it is over. Also called for jobs never queued. */
  leaves?(record: JobRecord): void
  /** Whether this worker may take this queued job; if not, the next one is tried. Default: yes. */
  fits?(worker: WorkerRecord, record: JobRecord): boolean
  /** True: the policy may leave a job queued beside a worker that could take it. */
  readonly patient?: boolean
  /** The worker has a free slot and may take this job, the first in the queue. Undefined: it does not start there now. */
  takes(worker: WorkerRecord, record: JobRecord, now: number): Reason | undefined
  /** The worker has answered the job, and still holds it. */
  ended?(worker: WorkerRecord, record: JobRecord, now: number): void
  /** The attempt failed there for a reason that speaks against the worker; another attempt follows. */
  failed?(worker: WorkerRecord, record: JobRecord, now: number): void
  /** Figures of a worker under this policy, for people. */
  figuresOf?(worker: WorkerRecord): Figures
}

/** What every policy is given. */
export interface SchedulerParts<Options extends object = object> {
  accepts: Accepts
  random: Random
  spec: Options
  fleet: FleetFacts
}

/** Options of a policy, which declares and checks them itself. */
export type PlacingSpec = object

/** What schedulers may know of the fleet besides its workers. */
export interface FleetFacts {
  ready(): number
  /** The number of launches under way. */
  booting(): number
  isBooting(launch: string): boolean
  /** True: the job is queued. */
  isWaiting(job: string): boolean
  /** How many more workers may be launched now. */
  room(): number
}

export type SchedulerFactory<Options extends object = object> = (parts: SchedulerParts<Options>) => Scheduler

/** How many workers that cannot take a job are tried before the job is queued. */
export const passOver = 64

/** The reason of policies under which any free slot takes the first job of the queue. */
export function hasRoom({ jobs, slots }: WorkerRecord): Reason {
  return { code: 'room', jobs: jobs.length, slots }
}
