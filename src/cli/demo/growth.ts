/** Watches the fleet of a demo: whether it grows while requests are queued, and shrinks again. */

import type { Preset } from '../../systems/preset.ts'

/** The part of a cluster's state that counts. */
interface Size {
  ready: number
  booting: readonly unknown[]
  waiting: readonly unknown[]
}

/** A scaler may need some decisions in a row before it launches, and a busy machine some time for each. */
const [decisions, leastMs] = [6, 15_000]

/** How long requests may be queued, with a fleet below its maximum, before the scaler of this preset must launch. */
export function growthLimitMs({ scale }: Pick<Preset, 'scale'>): number {
  return Math.max(leastMs, decisions * (scale?.everyMs ?? scale?.tiers?.everyMs ?? 0))
}

export class GrowthWatch {
  readonly #most: number
  readonly #limitMs: number
  /** Sizes of the fleet at which it turned from growing to shrinking or back, and the last. */
  readonly #turns: number[] = []
  #size = 0
  #queuedSince: number | undefined
  #longestMs = 0

  /** `most`: the maximum number of workers. */
  constructor(most: number, limitMs: number) {
    this.#most = most
    this.#limitMs = limitMs
  }

  look({ ready, booting, waiting }: Size, now: number): void {
    this.#noteSize(ready)
    const grows = booting.length > 0 || ready > this.#size
    this.#size = ready
    if (waiting.length === 0 || grows || ready >= this.#most) this.#queuedSince = undefined
    else {
      this.#queuedSince ??= now
      this.#longestMs = Math.max(this.#longestMs, now - this.#queuedSince)
    }
  }

  /** For example, "1 → 3 → 1". */
  get path(): string {
    return this.#turns.join(' → ')
  }

  /** Undefined: the fleet grew whenever it had to. */
  get fault(): string | undefined {
    if (this.#longestMs < this.#limitMs) return undefined
    const [queued, limit] = [this.#longestMs, this.#limitMs].map((ms) => `${(ms / 1000).toFixed(1)} s`)
    return `the fleet did not grow, although requests were queued for ${queued} below its maximum of ${this.#most} workers; the limit is ${limit}`
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
