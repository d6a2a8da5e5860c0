/** The CPU time that a simulated node has used. */

import type { VirtualClock } from './clock.ts'

/** The part of a core that an idle machine uses. */
const idleShare = 0.002

export class SimBusy {
  readonly #clock: VirtualClock
  #cores = 0
  #ms = 0
  #since = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  /** The number of cores that run a job changes by `cores`. */
  change(cores: number): void {
    this.#ms = this.#jobsMs
    this.#since = this.#clock.now
    this.#cores += cores
  }

  get ms(): number {
    return this.#jobsMs + idleShare * this.#clock.now
  }

  get #jobsMs(): number {
    return this.#ms + this.#cores * (this.#clock.now - this.#since)
  }
}
