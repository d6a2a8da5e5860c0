/**
 * How fast the machine is just now, beside what it was when costs were learned: for costs that are measured as time. What
 * others do on a shared machine can double the CPU time of a request for seconds at a stretch.
 */

import type { Guess } from './estimator.ts'

/** How much the speed changes from one request to the next, in logs. */
const change = 0.5
/** What a rule that does not say how sure it is is taken to be off by. */
const usualSpread = 0.3
/** A request that was so far off tells of itself, not of the machine. */
const farthest = Math.log(3)

export class Drift {
  #log = 0

  /** What the guess amounts to at the speed of now. */
  adjust(guess: Guess): Guess {
    return isKnown(guess) ? { ...guess, value: guess.value * Math.exp(this.#log) } : guess
  }

  /** `guess` is as the rule made it, not adjusted. The surer it was, the more what came tells of the machine. */
  learn(guess: Guess, actual: number): void {
    const off = Math.log(actual / guess.value)
    if (!isKnown(guess) || !(Math.abs(off) <= farthest)) return
    const spread = guess.spread ? Math.max(guess.spread.below, guess.spread.above) : usualSpread
    this.#log += (off - this.#log) * (change ** 2 / (change ** 2 + spread ** 2))
  }
}

/** Nobody knows what a made-up cost would be at another speed. */
function isKnown({ source }: Guess): boolean {
  return source === 'memo' || source === 'model'
}
