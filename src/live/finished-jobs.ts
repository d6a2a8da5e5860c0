/** Records a job that has ended in the ledger, and lets estimates and rates learn from it. */

import type { EstimateErrors } from '../estimate/errors.ts'
import type { Estimator } from '../estimate/estimator.ts'
import type { Overheads, Took } from '../estimate/overheads.ts'
import type { FleetRates } from '../estimate/rates.ts'
import type { RouteUnits } from '../estimate/route-units.ts'
import type { OpenJob } from '../front/open-job.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LearningSample } from './learning-sample.ts'

export interface Learners {
  estimator: Estimator
  rates: FleetRates
  overheads: Overheads
  /** Of an existing server, whose costs are learned in the units in which they were measured. */
  units: RouteUnits | undefined
  ledger: Ledger
  /** Undefined: all jobs are taken. */
  sample: LearningSample | undefined
  /** True: the estimator does not learn from this workload's costs on this worker. */
  ignores(worker: string, workload: string): boolean
}

/** How fast the worker runs the workload, and what requests take besides. */
export function learnTimes(
  { rates, overheads }: Pick<Learners, 'rates' | 'overheads'>,
  worker: string,
  workload: string,
  measured: Took,
): void {
  rates.learn(worker, workload, measured.work, measured.cpuMs)
  overheads.learn(workload, measured, rates.of(worker, workload) / 1000)
}

/** Compares the estimate of an answered job with its measurement, if both are in the same unit. What was guessed of unknown requests does not count. */
export function noteError(
  { parts: { job, quote, question }, cost, outcome }: OpenJob,
  { errors, units }: { errors: EstimateErrors; units: RouteUnits | undefined },
): void {
  if (outcome !== 'result' || !cost || quote.source === 'prior') return
  if (units && units.codeOf(job.workload, cost.measure) !== question.codeHash) return
  errors.learn(job.workload, { job: job.id, estimated: quote.work, measured: cost.work })
}

/** What is recorded of a job. */
export interface EndedJob extends Pick<OpenJob, 'cost' | 'worker' | 'attempts' | 'startedAt' | 'outcome'> {
  parts: Pick<OpenJob['parts'], 'job' | 'params' | 'question'>
}

/**
 * A job without a measured cost is not recorded; of a busy workload, a sample of the results is. `undisturbedMs`: from its
 * start to its answer; undefined: it waited for a core, or that is unknown.
 */
export function learnFrom(
  open: EndedJob,
  { estimator, rates, overheads, units, ledger, sample, ignores }: Learners,
  undisturbedMs?: number,
): void {
  const { cost, worker, attempts, startedAt, outcome } = open
  if (!cost) return
  const { job, params, question: asked } = open.parts
  const endedAt = Date.now()
  if (outcome === 'result' && sample?.takes(job.workload, endedAt) === false) return
  const question = units ? { ...asked, codeHash: units.codeOf(job.workload, cost.measure) } : asked
  if (outcome === 'result' && !ignores(worker, job.workload)) {
    estimator.learn(question, cost)
    if (units) units.learn(worker, job.workload, cost)
    else learnTimes({ rates, overheads }, worker, job.workload, { ...cost, undisturbedMs })
  }
  ledger.record({
    job: job.id,
    workload: job.workload,
    codeHash: question.codeHash,
    key: question.key,
    parameters: JSON.stringify(params),
    features: JSON.stringify(question.features),
    ...cost,
    quantities: cost.quantities ? JSON.stringify(cost.quantities) : '',
    worker,
    attempts,
    startedAt,
    endedAt,
    outcome,
  })
}
