/** When slots whose programs came to their end are tried again: the sooner they end, the later. */

const firstMs = 500
const mostMs = 30_000
/** A program that was well for so long is taken to be sound: its end counts as the first. */
const soundMs = 60_000

export class Backoff {
  #nextMs = firstMs

  /** The time until the next try. `wellMs`: how long the program had been healthy. */
  next(wellMs: number): number {
    if (wellMs >= soundMs) this.#nextMs = firstMs
    const waitMs = this.#nextMs
    this.#nextMs = Math.min(mostMs, 2 * waitMs)
    return waitMs
  }
}

/** Slots that wait for their next try, by number. */
export class Retries {
  readonly #backoffs = new Map<number, Backoff>()
  readonly #timers = new Map<number, NodeJS.Timeout>()

  get size(): number {
    return this.#timers.size
  }

  has(id: number): boolean {
    return this.#timers.has(id)
  }

  /** Says how long it will take. */
  plan(id: number, wellMs: number, go: () => void): number {
    const backoff = this.#backoffs.get(id) ?? new Backoff()
    this.#backoffs.set(id, backoff)
    const waitMs = backoff.next(wellMs)
    const timer = setTimeout(() => {
      this.#timers.delete(id)
      go()
    }, waitMs)
    this.#timers.set(id, timer.unref())
    return waitMs
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }
}
