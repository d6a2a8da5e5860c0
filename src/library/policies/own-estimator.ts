/** Lets a cluster or a simulation use an estimator that a user wrote. Its answers are checked and its faults contained. */

import type { Estimator as ClusterEstimator, Measurement, Question, Quote } from '../../estimate/estimator.ts'
import { checkNumber } from '../../lib/checks.ts'
import type { Reason } from '../../model/reason.ts'
import { checkPolicy, faultOf, guardOf, type OnFault } from './guard.ts'

/** What an estimator answers. */
export interface OwnEstimate {
  /** Expected work. */
  work: number
  /** The interval that holds 90 % of such requests. Default: `work`. */
  low?: number
  high?: number
  /** Expected peak memory. Default 64. */
  memoryMb?: number
  /** A code with the numbers of the estimate; `text`, if given, is shown to people. Default: the name of the estimator. */
  reason?: Reason
}

/** Predicts what a request will cost, and learns from what it did cost. */
export interface Estimator {
  /** Shown as the reason of its estimates. Default: `own`. */
  readonly name?: string
  /** Looked up before `estimate`, for estimators that keep their data elsewhere. */
  look?(question: Question): Promise<void>
  /** Must be fast: it is called for every request. */
  estimate(question: Question): OwnEstimate
  /** The measured cost of a job that has ended. */
  learn?(question: Question, measurement: Measurement): void
}

/** Makes an estimator. Called once for each cluster and each simulated run. */
export type EstimatorFactory = () => Estimator

const usualMemoryMb = 64

/** Throws a `PolicyError` if the factory returns no estimator. `usualWork` takes the place of an estimate that fails. */
export function ownEstimator(
  factory: EstimatorFactory,
  usualWork: number,
  onFault: OnFault,
): ClusterEstimator {
  const policy = checkPolicy('estimator', factory(), { must: ['estimate'], may: ['look', 'learn'] })
  const { name = 'own', look } = policy
  const what = policy.name === undefined ? 'estimator' : `estimator ${name}`
  const guard = guardOf(what, onFault)
  return {
    ...(look && {
      async look(question) {
        try {
          await look.call(policy, question)
        } catch (error) {
          onFault(faultOf(`${what}: look`, error))
        }
      },
    }),
    estimate: (question) =>
      guard(
        'estimate',
        () => quoteOf(policy.estimate(question), name),
        () => quoteOf({ work: usualWork }, name),
      ),
    learn(question, measurement) {
      if (policy.learn)
        guard(
          'learn',
          () => policy.learn!(question, measurement),
          () => {},
        )
    },
  }
}

function quoteOf(estimate: OwnEstimate, name: string): Quote {
  const { work, low = work, high = work, memoryMb = usualMemoryMb, reason } = estimate
  checkNumber('work', work, { min: 0 })
  checkNumber('low', low, { min: 0, max: work })
  checkNumber('high', high, { min: work })
  checkNumber('memoryMb', memoryMb, { min: 0 })
  return { work, low, high, memoryMb, source: 'model', reason: reason ?? { code: name } }
}
