/** What a job that is over leaves behind: a row in the ledger, and what estimates and rates learn from it. */

import type { Estimator } from '../estimate/estimator.ts'
import type { FleetRates } from '../estimate/rates.ts'
import type { RouteUnits } from '../estimate/route-units.ts'
import type { OpenJob } from '../front/open-job.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface Learners {
  estimator: Estimator
  rates: FleetRates
  /** Of an own server, whose costs are learned in the units in which they were measured. */
  units: RouteUnits | undefined
  ledger: Ledger
  /** True: what was measured there of this workload is not learned from. */
  ignores(place: string, workload: string): boolean
}

/** One that never ran, or was given up, leaves nothing. */
export function learnFrom(exchange: OpenJob, { estimator, rates, units, ledger, ignores }: Learners): void {
  const { cost, worker, attempts, startedAt, outcome } = exchange
  if (!cost) return
  const { job, params, question: asked } = exchange.parts
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
