import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import { similarRequests } from './similar-requests.ts'

export interface SimilarEstimatorOptions {
  /** The estimate while nothing has been measured. */
  unknown?: number
}

export function similarEstimator({ unknown }: SimilarEstimatorOptions): WorkEstimator {
  return { rule: () => similarRequests(unknown === undefined ? {} : { unknown }) }
}
