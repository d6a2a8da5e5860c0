/** The CPU time that the jobs of a simulated node have used. */

import type { VirtualClock } from './clock.ts'

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
    this.#ms = this.ms
    this.#since = this.#clock.now
    this.#cores += cores
  }

  get ms(): number {
    return this.#ms + this.#cores * (this.#clock.now - this.#since)
  }
}
