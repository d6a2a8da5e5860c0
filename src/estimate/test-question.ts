/** Questions for tests: what a test does not name is the same in all. */

import type { Features } from '../model/estimate.ts'
import type { Question } from './estimator.ts'

export function question(features: Features = {}, rest: Partial<Question> = {}): Question {
  return {
    workload: 'made-up',
    codeHash: 'code',
    // Equal requests only have the same key.
    key: JSON.stringify([features, rest.params]),
    params: features,
    features,
    ...rest,
  }
}
