/** Work as the sum of several quantities, each guessed by its own rule. */

import type { Quantities } from '../model/metering.ts'
import type { Guess, Rule } from './estimator.ts'

/** `rules` by name of quantity. Has a guess only if every rule has one. */
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
      // Rules work on logs, so an amount of 0 is learned as 1.
      if (quantities) for (const [name, rule] of all) rule.learn(question, Math.max(1, quantities[name] ?? 0))
    },
  }
}

/** Parses a ledger's quantities; undefined if it has none, or invalid ones. */
export function readQuantities(text: string): Quantities | undefined {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const amounts = Object.values(value)
    const isValid = amounts.every((each) => typeof each === 'number' && each >= 0 && each < Infinity)
    return isValid && amounts.length > 0 ? (value as Quantities) : undefined
  } catch {
    return undefined
  }
}
