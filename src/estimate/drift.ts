/**
 * Tracks how fast the machine is now relative to when costs were learned, for costs measured as time. Other load on a
 * shared machine can double the CPU time of a request for seconds at a time.
 */

import type { Guess } from './estimator.ts'

/** Standard deviation of the speed's change from one request to the next, in logs. */
const change = 0.5
/** Share of the drift kept from one request to the next: a lasting change is learned by the rules instead. */
const retained = 0.98
/** Errors are clipped to this factor: a larger one is a property of the request, not of the machine. */
const largestError = Math.log(3)

export class Drift {
  #log = 0

  /** The guess at the current speed. */
  adjust(guess: Guess): Guess {
    return isMeasured(guess) ? { ...guess, value: guess.value * Math.exp(this.#log) } : guess
  }

  /** A cost measured now, converted to the usual speed: the value that rules learn. */
  atUsualSpeed(value: number): number {
    return value / Math.exp(this.#log)
  }

  /** `guess` is the rule's, unadjusted. The narrower its spread, the more of the error is attributed to the machine. */
  learn(guess: Guess, actual: number): void {
    // A memo holds a cost measured at whatever speed applied then, so it says nothing about the usual speed.
    if (guess.source !== 'model' || !guess.spread) return
    const spread = Math.max(guess.spread.below, guess.spread.above)
    const off = Math.log(actual / guess.value) - this.#log
    const step = Math.max(-largestError, Math.min(largestError, off))
    this.#log = retained * (this.#log + step * (change ** 2 / (change ** 2 + spread ** 2)))
  }
}

/** A prior or a mean is not tied to any speed, so it is not adjusted. */
function isMeasured({ source }: Guess): boolean {
  return source === 'memo' || source === 'model'
}
