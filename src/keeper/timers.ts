/** The keeper's timers: after `close` none of them fires. */

export class Timers {
  readonly #set = new Map<NodeJS.Timeout, () => void>()
  #closed = false

  after(ms: number, then: () => void): void {
    if (!this.#closed) this.#start(ms, then, () => {})
  }

  /** The next time begins when `then` has ended. */
  every(ms: number, then: () => Promise<void>): void {
    this.after(ms, () => void then().finally(() => this.every(ms, then)))
  }

  /** Resolves after this time, or when the timers are closed. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => (this.#closed ? resolve() : this.#start(ms, resolve, resolve)))
  }

  close(): void {
    this.#closed = true
    for (const [timer, closed] of this.#set) {
      clearTimeout(timer)
      closed()
    }
    this.#set.clear()
  }

  #start(ms: number, then: () => void, closed: () => void): void {
    const timer = setTimeout(() => {
      this.#set.delete(timer)
      then()
    }, ms)
    this.#set.set(timer, closed)
  }
}
