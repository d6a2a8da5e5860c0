/** The systems' own estimators of work, by name, for presets that do not use the learned models. */

import type { WorkEstimator } from '../estimate/work-estimator.ts'
import { oneOf } from '../lib/one-of.ts'
import { type RankEstimatorOptions, rankEstimator } from './cloudprime/estimator.ts'
import { type PolynomialEstimatorOptions, polynomialEstimator } from './cnv/estimator.ts'
import { type SlopeEstimatorOptions, slopeEstimator } from './ecowork/estimator.ts'
import type { EstimatorFactory, EstimatorParts } from './estimator.ts'
import { type SimilarEstimatorOptions, similarEstimator } from './hillclimbing/estimator.ts'

export interface EstimatorSpec
  extends RankEstimatorOptions,
    PolynomialEstimatorOptions,
    SimilarEstimatorOptions,
    SlopeEstimatorOptions {
  rule: EstimatorName
}

export const estimators = {
  'rank-memo': rankEstimator,
  'log-polynomial': polynomialEstimator,
  'similar-requests': similarEstimator,
  slopes: slopeEstimator,
} satisfies Record<string, EstimatorFactory<Omit<EstimatorSpec, 'rule'>>>

export type EstimatorName = keyof typeof estimators

export function estimatorOf(spec: EstimatorSpec, parts: EstimatorParts): WorkEstimator {
  return oneOf('estimator', spec.rule, estimators)(spec, parts)
}
