/** The slots of a simulated worker: how many have started, and which job must wait for another one. */

import type { SlotStarts } from '../model/worker.ts'

export interface SlotStart {
  ms: number
  /** Slots that start with the worker, and never end. */
  warm: number
}

/** Slots that were not needed for this time end. */
const surplusMs = 60_000

export class SimSlots {
  readonly startMs: number
  readonly #warm: number
  #started: number
  /** The largest number of jobs since `#since`. */
  #most = 0
  #since = 0

  constructor({ ms, warm }: SlotStart) {
    this.startMs = ms
    this.#warm = warm
    this.#started = warm
  }

  /** A job comes to `others`. True: a slot must be started for it. */
  take(others: number, now: number): boolean {
    if (now - this.#since > surplusMs) {
      this.#started = Math.max(this.#warm, this.#most, others)
      this.#since = now
      this.#most = 0
    }
    this.#most = Math.max(this.#most, others + 1)
    if (others < this.#started) return false
    this.#started++
    return true
  }

  report(): { slotStarts: SlotStarts } {
    return { slotStarts: { ready: this.#started, startMs: this.startMs } }
  }
}
