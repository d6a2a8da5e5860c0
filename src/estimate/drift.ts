/**
 * How fast the machine is just now, beside what it was when costs were learned: for costs that are measured as time. What
 * others do on a shared machine can double the CPU time of a request for seconds at a stretch.
 */

import type { Guess } from './estimator.ts'

/** How much the speed changes from one request to the next, in logs. */
const change = 0.5
/** So much of it lasts from one request to the next: what stays for long is not the moment's, and rules learn it. */
const lasts = 0.98
/** A request that was further off tells of itself, not of the machine. */
const farthest = Math.log(3)

export class Drift {
  #log = 0

  /** What the guess amounts to at the speed of now. */
  adjust(guess: Guess): Guess {
    return isKnown(guess) ? { ...guess, value: guess.value * Math.exp(this.#log) } : guess
  }

  /** What a cost of now would be at the usual speed: what rules learn. */
  usual(value: number): number {
    return value / Math.exp(this.#log)
  }

  /** `guess` is as the rule made it, not adjusted. The surer it was, the more what came tells of the machine. */
  learn(guess: Guess, actual: number): void {
    // What is remembered of a request was learned at a speed of its own, and would confirm whatever that was.
    if (guess.source !== 'model' || !guess.spread) return
    const spread = Math.max(guess.spread.below, guess.spread.above)
    const off = Math.log(actual / guess.value) - this.#log
    const step = Math.max(-farthest, Math.min(farthest, off))
    this.#log = lasts * (this.#log + step * (change ** 2 / (change ** 2 + spread ** 2)))
  }
}

/** Nobody knows what a made-up cost would be at another speed. */
function isKnown({ source }: Guess): boolean {
  return source === 'memo' || source === 'model'
}
