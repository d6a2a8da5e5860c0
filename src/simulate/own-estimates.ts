/** Runs an estimator in virtual time, in place of simulated estimates. */

import type { Estimator, Question } from '../estimate/estimator.ts'
import type { Job } from '../model/job.ts'
import { unitsPerSecond } from './units.ts'

/**
 * A simulated request has no parameters. Its question has one feature, `seconds`: what the simulation would have estimated.
 * The estimator may correct it by what it learns from jobs that have ended.
 */
export class OwnEstimates {
  readonly #estimator: Estimator
  readonly #open = new Map<string, Question>()

  constructor(estimator: Estimator) {
    this.#estimator = estimator
  }

  /** The same job with the work that the estimator expects. */
  estimate(job: Job): Job {
    const features = { seconds: job.work / unitsPerSecond }
    const question = {
      workload: job.workload,
      codeHash: 'simulated',
      key: job.id,
      params: features,
      features,
    }
    this.#open.set(job.id, question)
    const { work, low, high } = this.#estimator.estimate(question)
    const units = (value: number) => Math.max(1, Math.round(value))
    return { ...job, work: units(work), low: units(low), high: units(high) }
  }

  /** The estimator learns from results, as in a live cluster. */
  ended({ job, size }: { job: Job; size: number }, hasResult: boolean): void {
    const question = this.#open.get(job.id)
    this.#open.delete(job.id)
    if (question && hasResult) this.#estimator.learn(question, { work: size, peakMemoryMb: job.memoryMb })
  }
}
