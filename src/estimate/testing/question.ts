/** Questions for tests, with defaults for everything a test does not set. */

import type { Features } from '../../model/estimate.ts'
import type { Question } from '../estimator.ts'

export function question(features: Features = {}, rest: Partial<Question> = {}): Question {
  return {
    workload: 'made-up',
    codeHash: 'code',
    // Only equal requests have the same key.
    key: JSON.stringify([features, rest.params]),
    params: features,
    features,
    ...rest,
  }
}
