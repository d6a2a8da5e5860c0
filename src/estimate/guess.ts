/** Makes a guess, or nothing where the number would not be one. */

import type { Guess } from './estimator.ts'

/** What was measured, or guessed: finite, and above 0. */
export function isUsable(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}

/** Undefined where `value` is no number to go by. A `spread`, the same to both sides, that is none is left out. */
export function guessOf(
  value: number,
  source: Guess['source'],
  reason: Guess['reason'],
  spread?: number,
): Guess | undefined {
  if (!isUsable(value)) return undefined
  const isSpread = spread !== undefined && spread >= 0 && Number.isFinite(spread)
  return { value, source, reason, ...(isSpread && { spread: { below: spread, above: spread } }) }
}
