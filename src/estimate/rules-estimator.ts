/** Puts intervals around what rules guess: one rule for the work and one for the memory of each workload. */

import { ContractError } from '../errors.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import type { Estimator, Guess, Question, Rule } from './estimator.ts'
import { isUsable } from './guess.ts'
import { Intervals } from './interval.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'

export interface RuleMakers {
  /** Each call makes a rule that knows nothing yet and always has something to say. */
  work(): Rule
  memory(): Rule
}

export function ruleEstimator(makers: RuleMakers): Estimator {
  const byWorkload = new Map<string, { work: Rule; memory: Rule; intervals: Intervals }>()
  const partsOf = ({ workload }: Question) => {
    let parts = byWorkload.get(workload)
    if (!parts) {
      parts = { work: makers.work(), memory: makers.memory(), intervals: new Intervals() }
      byWorkload.set(workload, parts)
    }
    return parts
  }
  return {
    estimate(question) {
      const { work, memory, intervals } = partsOf(question)
      const guess = guessOf(work, question)
      const { low, high } = intervals.around(guess)
      const { value, source, reason } = guess
      const { value: memoryMb } = guessOf(memory, question)
      return { work: value, low, high: Math.min(Number.MAX_VALUE, high), source, reason, memoryMb }
    },
    learn(question, measured) {
      const { work, memory, intervals } = partsOf(question)
      if (isUsable(measured.work)) {
        // As it would have been said just before.
        intervals.learn(guessOf(work, question), measured.work)
        work.learn(question, measured.work)
      }
      if (isUsable(measured.peakMemoryMb)) memory.learn(question, measured.peakMemoryMb)
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
