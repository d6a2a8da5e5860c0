/** Watches the fleet of a demo: whether it grows when its scaling rule says so, and shrinks again. */

import type { FleetState, GrowthRule } from './growth-rules.ts'

/** How much longer than its rule allows a scaler may take on a busy machine. */
const delayMs = 15_000

export class GrowthWatch {
  readonly #most: number
  readonly #rule: GrowthRule
  /** Sizes of the fleet at which it turned from growing to shrinking or back, and the last. */
  readonly #turns: number[] = []
  #size = 0
  #demandedSince: number | undefined
  #longestMs = 0

  /** `most`: the maximum number of workers. */
  constructor(most: number, rule: GrowthRule) {
    this.#most = most
    this.#rule = rule
  }

  look(state: FleetState, now: number): void {
    const { ready, booting } = state
    this.#noteSize(ready)
    const grows = booting.length > 0 || ready > this.#size
    this.#size = ready
    if (grows || ready >= this.#most || !this.#rule.demands(state)) this.#demandedSince = undefined
    else {
      this.#demandedSince ??= now
      this.#longestMs = Math.max(this.#longestMs, now - this.#demandedSince)
    }
  }

  /** For example, "1 → 3 → 1". */
  get path(): string {
    return this.#turns.join(' → ')
  }

  /** Undefined: the fleet grew whenever it had to. */
  get fault(): string | undefined {
    const { words, withinMs } = this.#rule
    const limitMs = withinMs + delayMs
    if (this.#longestMs < limitMs) return undefined
    const [demanded, limit] = [this.#longestMs, limitMs].map((ms) => `${(ms / 1000).toFixed(1)} s`)
    return (
      `the fleet did not grow for ${demanded} below its maximum of ${this.#most} workers, although its rule says so ` +
      `(${words}); the limit is ${limit}`
    )
  }

  #noteSize(size: number): void {
    const turns = this.#turns
    const last = turns.at(-1)
    if (size === last) return
    const before = turns.at(-2)
    const goesOn = before !== undefined && last !== undefined && last > before === size > last
    if (goesOn) turns[turns.length - 1] = size
    else turns.push(size)
  }
}
