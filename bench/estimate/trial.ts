/** Tests one estimator on one workload: it learns some of the rows in order and estimates the others. */
import { chain } from '../../src/estimate/chain.ts'
import { constant } from '../../src/estimate/constant.ts'
import type { Question, Rule } from '../../src/estimate/estimator.ts'
import { Intervals } from '../../src/estimate/interval.ts'
import { inlineFitter } from '../../src/estimate/learned/fitter.ts'
import { learned } from '../../src/estimate/learned.ts'
import { memo } from '../../src/estimate/memo.ts'
import { rankMemo } from '../../src/systems/cloudprime/rank-memo.ts'
import { logPolynomial } from '../../src/systems/cnv/log-polynomial.ts'
import { slopes } from '../../src/systems/ecowork/slopes.ts'
import { similarRequests } from '../../src/systems/hillclimbing/similar-requests.ts'
import type { Row } from './row.ts'

export const [heldOut, rounds] = [200, [12, 100, 600] as const]

interface Tried {
  rule: Rule
  settled?(): Promise<void>
}

/** Each falls back to the mean so far. */
export const estimators = {
  learned: () => {
    const model = learned({ fitter: inlineFitter() })
    return { rule: chain(memo(), model, constant()), settled: () => model.settled() }
  },
  'log-polynomial': () => ({ rule: logPolynomial() }),
  'similar-requests': () => ({ rule: chain(similarRequests(), constant()) }),
  slopes: () => ({ rule: chain(slopes(), constant()) }),
  'rank-memo': () => ({ rule: chain(rankMemo(), constant()) }),
  memo: () => ({ rule: chain(memo(), constant()) }),
  constant: () => ({ rule: constant() }),
} satisfies Record<string, () => Tried>

export type EstimatorName = keyof typeof estimators

/** The estimate of a request that it has not learned. */
export interface Answer {
  actual: number
  value: number
  low: number
  high: number
}

export function questionOf(workload: string, { key, params, features }: Row): Question {
  return { workload, codeHash: 'bench', key, params, features }
}

/** By the number of rows learned: its estimates of the held-out quarter. */
export async function trial(
  workload: string,
  name: EstimatorName,
  rows: readonly Row[],
  quarter: number,
): Promise<Map<number, Answer[]>> {
  const isHeldOut = (i: number) => Math.floor(i / heldOut) === quarter
  const seen = rows.filter((_, i) => !isHeldOut(i))
  const keys = new Set(seen.map(({ key }) => key))
  const unseen = rows.filter((row, i) => isHeldOut(i) && !keys.has(row.key))
  const { rule, settled }: Tried = estimators[name]()
  const intervals = new Intervals()
  const answers = new Map<number, Answer[]>()
  for (const [i, row] of seen.entries()) {
    const question = questionOf(workload, row)
    const before = rule.guess(question)
    if (before) intervals.learn(before, row.work)
    rule.learn(question, row.work)
    await settled?.()
    if ((rounds as readonly number[]).includes(i + 1)) {
      answers.set(
        i + 1,
        unseen.map((row) => {
          const guess = rule.guess(questionOf(workload, row))!
          return { actual: row.work, value: guess.value, ...intervals.around(guess) }
        }),
      )
    }
  }
  return answers
}
