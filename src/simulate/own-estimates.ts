/** Runs an estimator in virtual time, in place of simulated estimates. */

import type { Estimator, Question } from '../estimate/estimator.ts'
import type { Job } from '../model/job.ts'
import type { Quantities } from '../model/metering.ts'
import { unitsPerSecond } from './units.ts'

/** What an estimator is asked about a job, and what it is told when the job has ended. */
export interface AskedJob {
  question: Question
  work: number
  quantities?: Quantities
}

/**
 * Estimates each job, and lets the estimator learn from results, as in a live cluster. Recorded requests are estimated in
 * the units of their meter. Other simulated requests have no parameters; their question has one feature, `seconds`:
 * what the simulation would have estimated. The estimator may correct it by what it learns from jobs that have ended.
 */
export class OwnEstimates {
  readonly #estimator: Estimator
  readonly #workPerSecond: number
  readonly #open = new Map<string, AskedJob>()
  /** The estimator has learned since this was last set to false. */
  hasLearned = false

  constructor(estimator: Estimator, workPerSecond = unitsPerSecond) {
    this.#estimator = estimator
    this.#workPerSecond = workPerSecond
  }

  /** The same job with the work that the estimator expects. `size`: its work in units of the simulator. */
  estimate(job: Job, size: number, asked: AskedJob = askedBySize(job, size)): Job {
    this.#open.set(job.id, asked)
    const { work, low, high, unproven } = this.#estimator.estimate(asked.question)
    const scale = unitsPerSecond / this.#workPerSecond
    const units = (value: number) => Math.max(1, Math.round(Math.min(value * scale, Number.MAX_VALUE)))
    return {
      ...{ ...job, work: units(work), low: units(low), high: units(high) },
      ...(unproven && { unproven }),
    }
  }

  ended({ job }: { job: Job }, hasResult: boolean): void {
    const asked = this.#open.get(job.id)
    this.#open.delete(job.id)
    if (!asked || !hasResult) return
    const { question, work, quantities } = asked
    const measured = { work, peakMemoryMb: job.memoryMb, ...(quantities && { quantities }) }
    this.#estimator.learn(question, measured)
    this.hasLearned = true
  }
}

function askedBySize(job: Job, size: number): AskedJob {
  const features = { seconds: job.work / unitsPerSecond }
  const question = {
    workload: job.workload,
    codeHash: 'simulated',
    key: job.id,
    params: features,
    features,
  }
  return { question, work: size }
}
