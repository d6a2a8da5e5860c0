/** The five systems' own ways to estimate work, by name: for presets, in place of what a cluster learns. */

import type { Rule } from '../estimate/estimator.ts'
import { oneOf } from '../lib/one-of.ts'
import { rankMemo } from './cloudprime/rank-memo.ts'
import type { RankStore } from './cloudprime/rank-store.ts'
import { logPolynomial } from './cnv/log-polynomial.ts'
import { slopes } from './ecowork/slopes.ts'
import { similarRequests } from './hillclimbing/similar-requests.ts'

export interface Ruled {
  rule: 'rank-memo' | 'log-polynomial' | 'similar-requests' | 'slopes'
  /** Of `similar-requests`: what to say of requests like nothing that was seen. */
  unknown?: number
  /** Of `rank-memo`: the rank of what is still being measured. */
  max?: number
  /** Of `log-polynomial`: what work is the sum of. Each is estimated apart, by models that are made of the store's rows. */
  quantities?: readonly string[]
  /** Of `slopes`: what was measured is taken in, and what that changed stored, so often. Default: at once, and not stored. */
  writeEveryMs?: number
}

/** What a cluster has for rules. */
export interface RuleParts {
  /** Of `rank-memo`: where ranks are known from. Default: from what is learned. */
  ranks?: RankStore
}

const rules = {
  'rank-memo': ({ max }, { ranks }) =>
    rankMemo({ ...(max !== undefined && { max }), ...(ranks && { ranks }) }),
  'log-polynomial': () => logPolynomial(),
  'similar-requests': ({ unknown }) => similarRequests(unknown === undefined ? {} : { unknown }),
  slopes: () => slopes(),
} satisfies Record<RuledName, (ruled: Ruled, parts: RuleParts) => Rule>

export type RuledName = Ruled['rule']

/** A rule for one workload. */
export function ruledWork(ruled: Ruled, parts: RuleParts = {}): Rule {
  return oneOf('estimator', ruled.rule, rules)(ruled, parts)
}
