/**
 * Decides whether an estimate may rank jobs. Until a rule's guesses about a workload have been checked against enough
 * measurements, their intervals are claims, and jobs share the cores instead.
 */

import type { Guess } from './estimator.ts'
import type { Interval } from './interval.ts'

/** Checked guesses that prove a rule. */
const enoughChecked = 8
/** A model fitted to as many rows has been checked against each of them by a fit to the others. */
const enoughRows = 20
/** Wider intervals, as the ratio of their bounds, say too little to rank jobs. */
const widest = 1000

/** How often each rule's guesses about the current code of a workload were checked. */
export class Trust {
  readonly #checked = new Map<string, number>()
  #code: string | undefined

  isProven(code: string, guess: Guess, { low, high }: Interval): boolean {
    if (!(high <= low * widest)) return false
    return (
      isSound(guess) || (code === this.#code && (this.#checked.get(guess.reason.code) ?? 0) >= enoughChecked)
    )
  }

  /** The guess was compared with a measurement. */
  checked(code: string, { reason }: Guess): void {
    if (code !== this.#code) this.#checked.clear()
    this.#code = code
    this.#checked.set(reason.code, (this.#checked.get(reason.code) ?? 0) + 1)
  }
}

/** True: the guess needs no further checks. The same request was measured before, or the model was checked in its fit. */
function isSound({ reason, source, carriedOver }: Guess): boolean {
  if (source === 'memo') return true
  return source === 'model' && !carriedOver && Number(reason.rows) >= enoughRows
}
