/** Seeded random integers, identical on every machine (32-bit xorshift). */

export class Random {
  #state: number

  constructor(seed: number) {
    // Hashed, so that similar seeds give different sequences; odd, because a state of 0 would stay 0.
    const scattered = Math.imul(seed ^ (seed >>> 16), 0x7feb352d)
    this.#state = Math.imul(scattered ^ (scattered >>> 15), 0x846ca68b) | 1
  }

  /** From 0 to `count` - 1; `count` is at most 65,536. */
  below(count: number): number {
    let state = this.#state
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    this.#state = state
    return Math.imul(state >>> 16, count) >>> 16
  }
}
