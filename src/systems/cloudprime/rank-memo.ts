/**
 * CloudPrime's estimate: the rank of the same request, else the number itself. For workloads other than factorize the
 * number is the request's size (reading.ts).
 */

import { chain } from '../../estimate/chain.ts'
import type { Rule } from '../../estimate/estimator.ts'
import { guessOf } from '../../estimate/guess.ts'
import { memo } from '../../estimate/memo.ts'
import { numberIn, read, sizeOf } from '../../estimate/reading.ts'
import { usualClasses } from './classes.ts'
import type { RankStore } from './rank-store.ts'

export interface RankMemoOptions {
  keys?: number
  /** Where ranks are looked up. Default: among those learned. */
  ranks?: Pick<RankStore, 'find'>
  /** The rank of a request that is still being measured. Default: CloudPrime's MAX. */
  max?: number
}

export function rankMemo({ keys, ranks, max = usualClasses.max }: RankMemoOptions = {}): Rule {
  return chain(ranks ? stored(ranks, max) : memo({ keys }), theNumberItself)
}

/** The ledger fills the store, so that there is nothing to learn. */
function stored(ranks: Pick<RankStore, 'find'>, max: number): Rule {
  return {
    guess(question) {
      const found = ranks.find(question)
      if (found === undefined) return undefined
      if (found === 'running') return guessOf(max, 'memo', { code: 'still-running', rank: max })
      // Work is exact, so that a repeated request costs nearly the same.
      return guessOf(found, 'memo', { code: 'rank-known' }, 0.1)
    },
    learn() {},
  }
}

const theNumberItself: Rule = {
  guess(question) {
    const { workload, params, features } = question
    const own = workload === 'factorize' ? numberIn(params, 'n') : undefined
    const number = own ?? sizeOf(question, read(features))
    if (number === undefined) return undefined
    return guessOf(number, 'prior', { code: 'the-number-itself', number })
  },
  learn() {},
}
