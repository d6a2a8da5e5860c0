/**
 * CloudPrime's estimate: what the same request took, else the number itself as its rank. For another workload
 * than factorize the number is the request's size (reading.ts).
 */

import { chain } from './chain.ts'
import type { Rule } from './estimator.ts'
import { guessOf } from './guess.ts'
import { memo } from './memo.ts'
import { numberIn, read, sizeOf } from './reading.ts'

/** `learn` is for completed rows: one that is still running counts as MAX for the scheduler and is not remembered. */
export function rankMemo({ keys }: { keys?: number } = {}): Rule {
  return chain(memo({ keys }), theNumberItself)
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
