/** What runs the jobs of a supervisor: slots for workloads, programs of an existing server, or an upstream. */
import type { SlotStarts } from '../model/worker.ts'
import type { OpenPrograms } from '../wire/programs.ts'
import type { JobRequest, JobRun } from './job-run.ts'

export interface JobPool {
  /** Resolves when jobs can be started. Rejects with the reason if they never can. */
  ready(): Promise<void>
  /** Why no job can run now; undefined: jobs can run. */
  readonly problem?: string | undefined
  /** Healthy programs that take several requests at a time, to which fronts may send small ones. Undefined: none. */
  readonly programs?: OpenPrograms | undefined
  /** Undefined: unknown, or a job needs no slot of its own. */
  readonly slotStarts?: SlotStarts | undefined
  /** Number of live processes. */
  readonly size: number
  /** Memory of its processes at rest, which is not available to jobs. Undefined: part of each job's memory. */
  readonly restMb?: number
  /** Accepts the job at once; the pool decides when it actually starts. */
  start(job: JobRequest): JobRun
  /** Cancels all jobs and ends all processes. */
  close(): Promise<void>
}
