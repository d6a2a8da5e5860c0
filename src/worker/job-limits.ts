/** The limits of running jobs: the time that the operator allows, and the cost that the client allows. */

import { type CostLimited, CostLimits } from './cost-limits.ts'
import { type Limited, TimeLimits } from './time-limits.ts'

export class JobLimits<J extends Limited & CostLimited> {
  readonly #time: TimeLimits<J>
  readonly #cost: CostLimits<J>

  /** `limitMs` of a workload; Infinity: none. `cores`: of the worker. */
  constructor(limitMs: (workload: string) => number, cores: number) {
    this.#time = new TimeLimits(limitMs)
    this.#cost = new CostLimits(cores)
  }

  /** The job runs from now on. */
  start(job: J): void {
    this.#time.start(job)
    this.#cost.start(job)
  }

  pause(job: J): void {
    this.#time.pause(job)
    this.#cost.stop(job)
  }

  /** The job has ended. */
  delete(job: J): void {
    this.#time.delete(job)
    this.#cost.stop(job)
  }
}
