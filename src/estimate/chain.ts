/** Asks rules in order and returns the first guess; every rule learns from every measurement. */

import type { Rule } from './estimator.ts'

export function chain(...rules: readonly Rule[]): Rule {
  return {
    guess(question) {
      for (const rule of rules) {
        const guess = rule.guess(question)
        if (guess) return guess
      }
      return undefined
    },
    learn(question, value, quantities) {
      for (const rule of rules) rule.learn(question, value, quantities)
    },
  }
}
