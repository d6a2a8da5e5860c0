/** Delays the restarts of programs with exponential backoff. */

const firstDelayMs = 500
const maxDelayMs = 30_000
/** A program that was healthy for this time resets the backoff. */
const resetMs = 60_000

export class Backoff {
  #nextMs = firstDelayMs

  /** The delay of the next restart of a program that was healthy for `healthyMs`. */
  next(healthyMs: number): number {
    if (healthyMs >= resetMs) this.#nextMs = firstDelayMs
    const waitMs = this.#nextMs
    this.#nextMs = Math.min(maxDelayMs, 2 * waitMs)
    return waitMs
  }
}

/** Slots that wait for a restart, by number. */
export class Retries {
  readonly #backoffs = new Map<number, Backoff>()
  readonly #timers = new Map<number, NodeJS.Timeout>()

  get size(): number {
    return this.#timers.size
  }

  has(id: number): boolean {
    return this.#timers.has(id)
  }

  /** Schedules a restart and returns its delay. */
  plan(id: number, healthyMs: number, restart: () => void): number {
    const backoff = this.#backoffs.get(id) ?? new Backoff()
    this.#backoffs.set(id, backoff)
    const waitMs = backoff.next(healthyMs)
    const timer = setTimeout(() => {
      this.#timers.delete(id)
      restart()
    }, waitMs)
    this.#timers.set(id, timer.unref())
    return waitMs
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }
}
