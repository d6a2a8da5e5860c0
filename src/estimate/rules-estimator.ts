/** Puts intervals around what rules guess: one rule for the work and one for the memory of each workload. */

import { ContractError } from '../errors.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import type { Estimator, Guess, Question, Rule } from './estimator.ts'
import { isUsable } from './guess.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'

export interface RuleMakers {
  /** Each call makes a rule that knows nothing yet and always has something to say. */
  work(): Rule
  memory(): Rule
}

/** How far off a guess is taken to be where its rule cannot tell: a factor. */
const usualFactor = 3
/** So many standard deviations to both sides hold 90 %. */
const deviations90 = 1.645

export function ruleEstimator(makers: RuleMakers): Estimator {
  const byWorkload = new Map<string, { work: Rule; memory: Rule }>()
  const rulesOf = ({ workload }: Question) => {
    let rules = byWorkload.get(workload)
    if (!rules) {
      rules = { work: makers.work(), memory: makers.memory() }
      byWorkload.set(workload, rules)
    }
    return rules
  }
  return {
    estimate(question) {
      const rules = rulesOf(question)
      const { value, spread, source, reason } = guessOf(rules.work, question)
      const factor = spread === undefined ? usualFactor : Math.exp(deviations90 * spread)
      const high = Math.min(Number.MAX_VALUE, value * factor)
      const { value: memoryMb } = guessOf(rules.memory, question)
      return { work: value, low: value / factor, high, source, reason, memoryMb }
    },
    learn(question, { work, peakMemoryMb }) {
      const rules = rulesOf(question)
      if (isUsable(work)) rules.work.learn(question, work)
      if (isUsable(peakMemoryMb)) rules.memory.learn(question, peakMemoryMb)
    },
  }
}

function guessOf(rule: Rule, question: Question): Guess {
  const guess = rule.guess(question)
  if (!guess) throw new ContractError(`no rule has anything to say about ${question.workload}`)
  return guess
}

/** What a cluster uses. `workPerCpuMs` is the nominal rate of a core. */
export function estimatorOf(workPerCpuMs: number): Estimator {
  return ruleEstimator({
    work: () => chain(memo(), constant(), priorWork(workPerCpuMs)),
    memory: () => chain(memo(), constant(), priorMemory()),
  })
}
