/** The CPU time that the jobs of a simulated node have had. */

import type { VirtualClock } from './clock.ts'

export class SimBusy {
  readonly #clock: VirtualClock
  #cores = 0
  #ms = 0
  #since = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  /** So many cores more, or fewer, run a job from now on. */
  change(cores: number): void {
    this.#ms = this.ms
    this.#since = this.#clock.now
    this.#cores += cores
  }

  get ms(): number {
    return this.#ms + this.#cores * (this.#clock.now - this.#since)
  }
}
