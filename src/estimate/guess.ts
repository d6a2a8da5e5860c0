/** Validates the numbers of guesses. */

import type { Guess } from './estimator.ts'

/** A valid measurement or guess is finite and above 0. */
export function isUsable(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}

/** Undefined if `value` is invalid. `spread` applies to both sides and is left out if invalid. */
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
