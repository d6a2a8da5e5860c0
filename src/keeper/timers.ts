/** Timers that end together. */

export class Timers {
  readonly #running = new Set<NodeJS.Timeout>()
  #closed = false

  after(ms: number, then: () => void): void {
    if (this.#closed) return
    const timer = setTimeout(() => {
      this.#running.delete(timer)
      then()
    }, ms)
    this.#running.add(timer)
  }

  /** Waits again when `then` has ended. */
  every(ms: number, then: () => Promise<void>): void {
    this.after(ms, () => void then().finally(() => this.every(ms, then)))
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#running) clearTimeout(timer)
  }
}
