/** Records a job that has ended in the ledger, and lets estimates and rates learn from it. */

import type { Estimator } from '../estimate/estimator.ts'
import type { FleetRates } from '../estimate/rates.ts'
import type { RouteUnits } from '../estimate/route-units.ts'
import type { OpenJob } from '../front/open-job.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface Learners {
  estimator: Estimator
  rates: FleetRates
  /** Of an existing server, whose costs are learned in the units in which they were measured. */
  units: RouteUnits | undefined
  ledger: Ledger
  /** True: the estimator does not learn from this workload's costs on this worker. */
  ignores(worker: string, workload: string): boolean
}

/** A job without a measured cost is not recorded. */
export function learnFrom(open: OpenJob, { estimator, rates, units, ledger, ignores }: Learners): void {
  const { cost, worker, attempts, startedAt, outcome } = open
  if (!cost) return
  const { job, params, question: asked } = open.parts
  const question = units ? { ...asked, codeHash: units.codeOf(job.workload, cost.measure) } : asked
  if (outcome === 'result' && !ignores(worker, job.workload)) {
    estimator.learn(question, cost)
    if (units) units.learn(worker, job.workload, cost)
    else rates.learn(worker, job.workload, cost.work, cost.cpuMs)
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
    endedAt: Date.now(),
    outcome,
  })
}
