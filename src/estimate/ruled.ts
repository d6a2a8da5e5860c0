/** The five systems' own ways to estimate work, by name: for presets, in place of what a cluster learns. */

import { oneOf } from '../one-of.ts'
import type { Rule } from './estimator.ts'
import { logPolynomial } from './log-polynomial.ts'
import { rankMemo } from './rank-memo.ts'
import { similarRequests } from './similar-requests.ts'
import { slopes } from './slopes.ts'

export interface Ruled {
  rule: RuledName
  /** Of `similar-requests`: what to say of requests like nothing that was seen. */
  unknown?: number
  /** Of `slopes`: what was measured is taken in, and what that changed stored, so often. Default: at once, and not stored. */
  writeEveryMs?: number
}

const rules = {
  'rank-memo': () => rankMemo(),
  'log-polynomial': () => logPolynomial(),
  'similar-requests': (unknown) => similarRequests(unknown === undefined ? {} : { unknown }),
  slopes: () => slopes(),
} satisfies Record<string, (unknown?: number) => Rule>

export type RuledName = keyof typeof rules

/** A rule for one workload. */
export function ruledWork({ rule, unknown }: Ruled): Rule {
  return oneOf('estimator', rule, rules)(unknown)
}
