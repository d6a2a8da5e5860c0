import type { Estimator, Quote } from '../../estimate/estimator.ts'

const unknownCost: Quote = {
  work: 0,
  low: 0,
  high: 0,
  memoryMb: 0,
  source: 'prior',
  reason: { code: 'elsewhere' },
}
/** The brain estimates; fronts do not. */
export const noEstimator: Estimator = { estimate: () => unknownCost, learn() {} }
