/** Ends jobs that have used more CPU time than their clients want to pay for. */

import { span } from '../lib/quantities.ts'
import type { JobRun } from './job-run.ts'

export interface CostLimited {
  /** `maxCpuMs`: CPU time that the job may use; undefined: any. */
  readonly head: { readonly maxCpuMs?: number }
  readonly run: Pick<JobRun, 'cpuMs' | 'exceed'> | undefined
}

/** Least time between two readings, and the most by which a job exceeds its limit on each core. */
const leastMs = 10
/** A reading may come this late, so that long limits hold in spite of the longest timer of the runtime. */
const mostMs = 60_000

export class CostLimits<J extends CostLimited> {
  readonly #cores: number
  readonly #timers = new Map<J, NodeJS.Timeout>()

  /** `cores`: how many a job can use at a time. */
  constructor(cores: number) {
    this.#cores = cores
  }

  /** The job runs from now on. */
  start(job: J): void {
    const { maxCpuMs } = job.head
    if (maxCpuMs === undefined || !job.run) return
    clearTimeout(this.#timers.get(job))
    // With all cores it would take this long to reach the limit.
    const waitMs = (maxCpuMs - job.run.cpuMs()) / this.#cores
    const timer = setTimeout(
      () => this.#check(job, maxCpuMs),
      Math.min(mostMs, Math.max(leastMs, Math.ceil(waitMs))),
    )
    this.#timers.set(job, timer.unref())
  }

  /** The job is paused, or has ended. */
  stop(job: J): void {
    clearTimeout(this.#timers.get(job))
    this.#timers.delete(job)
  }

  #check(job: J, maxCpuMs: number): void {
    const usedMs = job.run?.cpuMs() ?? 0
    if (usedMs < maxCpuMs) return this.start(job)
    this.stop(job)
    const used = `it used ${span(usedMs)} of CPU time, and its client allows ${span(maxCpuMs)}`
    job.run?.exceed(`cost limit: ${used}`, { kind: 'cost-limit', status: 504 })
  }
}
