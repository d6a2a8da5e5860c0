/** Work as the sum of several quantities, each guessed by a rule of its own. */

import type { Quantities } from '../model/metering.ts'
import type { Guess, Rule } from './estimator.ts'

/** The rules by the quantities' names. It has something to say where each of them has. */
export function summed(rules: Readonly<Record<string, Rule>>): Rule {
  const all = Object.entries(rules)
  return {
    guess(question) {
      const guesses: [string, Guess][] = []
      for (const [name, rule] of all) {
        const guess = rule.guess(question)
        if (!guess) return undefined
        guesses.push([name, guess])
      }
      const largest = guesses.map(([, guess]) => guess).reduce((a, b) => (b.value > a.value ? b : a))
      const amounts = guesses.map(([name, { value }]) => [name, Math.round(value)] as const)
      return {
        ...largest,
        value: guesses.reduce((sum, [, { value }]) => sum + value, 0),
        reason: { ...largest.reason, ...Object.fromEntries(amounts) },
      }
    },
    learn(question, _value, quantities) {
      // What there is nothing of is taken for the least there can be: logs have no place for it.
      if (quantities) for (const [name, rule] of all) rule.learn(question, Math.max(1, quantities[name] ?? 0))
    },
  }
}

/** As a ledger has them; undefined: it has none, or none that can be true. */
export function readQuantities(text: string): Quantities | undefined {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const amounts = Object.values(value)
    const isTrue = amounts.every((each) => typeof each === 'number' && each >= 0 && each < Infinity)
    return isTrue && amounts.length > 0 ? (value as Quantities) : undefined
  } catch {
    return undefined
  }
}
