/**
 * CloudPrime's estimate: what the same request took, else the number itself as its rank. For another workload
 * than factorize the number is the request's size (reading.ts).
 */

import { chain } from '../../estimate/chain.ts'
import type { Rule } from '../../estimate/estimator.ts'
import { guessOf } from '../../estimate/guess.ts'
import { memo } from '../../estimate/memo.ts'
import { numberIn, read, sizeOf } from '../../estimate/reading.ts'
import type { RankStore } from './rank-store.ts'

export interface RankMemoOptions {
  keys?: number
  /** Where ranks are known from. Default: from what is learned. */
  ranks?: Pick<RankStore, 'find'>
  /** The rank of a request that is still being measured: one that takes long. Default: that of CloudPrime. */
  max?: number
}

export function rankMemo({ keys, ranks, max = 1_272_110_814 }: RankMemoOptions = {}): Rule {
  return chain(ranks ? stored(ranks, max) : memo({ keys }), theNumberItself)
}

/** The store is told of by others. */
function stored(ranks: Pick<RankStore, 'find'>, max: number): Rule {
  return {
    guess(question) {
      const found = ranks.find(question)
      if (found === undefined) return undefined
      if (found === 'running') return guessOf(max, 'memo', { code: 'still-running', rank: max })
      // Work is exact: the same again is hardly off.
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
