/** How long the work of a job takes: at the rate that its worker announced, and the speed learned for such jobs. */

import type { Job } from '../../model/job.ts'

/** Running time of this much work of the job with a core to itself, in milliseconds. */
export function msOf(job: Job, work: number, workPerSecond: number): number {
  return (work / (workPerSecond * speedOf(job))) * 1000
}

/** How many times the announced rate the work of the job is done at. */
export function speedOf({ speed }: Job): number {
  return speed?.expected ?? 1
}

/** The work that takes as long at the announced rate. Sums of it over several jobs are times. */
export function nominalWork(job: Job, work = job.work): number {
  return work / speedOf(job)
}
