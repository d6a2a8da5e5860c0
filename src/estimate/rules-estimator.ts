/**
 * Adds intervals to the guesses of rules, and adjusts costs measured as time to the machine's current speed. Each
 * workload and measure has one rule for work and one for memory.
 */

import { ContractError } from '../lib/errors.ts'
import type { Measure } from '../model/cost.ts'
import { Drift } from './drift.ts'
import type { Estimator, Guess, Measurement, Question, Rule } from './estimator.ts'
import { isUsable } from './guess.ts'
import { Intervals } from './interval.ts'
import { measureIn } from './measured-code.ts'
import { Trust } from './trust.ts'

export interface RuleMakers {
  /** Each call creates a rule that always has a guess. */
  work(workload: string, measure: Measure): Rule
  memory(workload: string, measure: Measure): Rule
}

export interface RuleEstimator extends Estimator {
  /** Learns from a past measurement without updating intervals. */
  recall(question: Question, measured: Measurement): void
}

/** What is known of one workload and measure. */
interface Parts {
  work: Rule
  memory: Rule
  intervals: Intervals
  trust: Trust
  drift?: Drift
}

export function ruleEstimator(makers: RuleMakers): RuleEstimator {
  const all = new Map<string, Parts>()
  const drifts = { cpu: new Drift(), time: new Drift() } as const
  const partsOf = ({ workload, codeHash }: Question) => {
    const measure = measureIn(codeHash)
    const name = `${measure} ${workload}`
    let parts = all.get(name)
    if (!parts) {
      const [work, memory] = [makers.work(workload, measure), makers.memory(workload, measure)]
      const drift = measure === 'cpu' || measure === 'time' ? { drift: drifts[measure] } : {}
      parts = { work, memory, intervals: new Intervals(), trust: new Trust(), ...drift }
      all.set(name, parts)
    }
    return parts
  }
  function learnParts(question: Question, work: number, { peakMemoryMb, quantities }: Measurement): void {
    const rules = partsOf(question)
    if (isUsable(work)) rules.work.learn(question, work, quantities)
    if (isUsable(peakMemoryMb)) rules.memory.learn(question, peakMemoryMb)
  }

  return {
    estimate(question) {
      const { work, memory, intervals, trust, drift } = partsOf(question)
      const made = guessOf(work, question)
      const guess = drift?.adjust(made) ?? made
      const interval = intervals.around(guess)
      const { low, high } = interval
      const unproven = !trust.isProven(question.codeHash, guess, interval) && { unproven: true as const }
      const { value, source, reason } = guess
      const { value: memoryMb } = guessOf(memory, question)
      return {
        ...{ work: value, low, high: Math.min(Number.MAX_VALUE, high) },
        ...unproven,
        ...{ source, reason, memoryMb },
      }
    },
    learn(question, measured) {
      const { work, intervals, trust, drift } = partsOf(question)
      const usual = drift?.atUsualSpeed(measured.work) ?? measured.work
      if (isUsable(measured.work)) {
        // The guess as it would have been before this measurement.
        const guess = guessOf(work, question)
        intervals.learn(drift?.adjust(guess) ?? guess, measured.work)
        trust.checked(question.codeHash, guess)
        drift?.learn(guess, measured.work)
      }
      learnParts(question, usual, measured)
    },
    recall: (question, measured) => learnParts(question, measured.work, measured),
  }
}

function guessOf(rule: Rule, question: Question): Guess {
  const guess = rule.guess(question)
  if (!guess) throw new ContractError(`no rule has a guess for workload ${question.workload}`)
  return guess
}
