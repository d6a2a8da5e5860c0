/** What the estimators of systems are made from. */

import type { WorkEstimator } from '../estimate/work-estimator.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface EstimatorParts {
  ledger: Ledger
  /** Where estimators that keep files keep them. Undefined: in memory only. */
  dataDir?: string
  log(line: string): void
}

export type EstimatorFactory<Options extends object> = (
  options: Options,
  parts: EstimatorParts,
) => WorkEstimator
