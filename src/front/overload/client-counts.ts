/** Counts what each client has, such as connections, up to a limit for each. */

export class ClientCounts {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Returns a function that releases it, which may be called repeatedly. Undefined: the client has the maximum. */
  take(client: string): (() => void) | undefined {
    const count = this.#counts.get(client) ?? 0
    if (count >= this.#most) return undefined
    this.#counts.set(client, count + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      const left = this.#counts.get(client)! - 1
      if (left > 0) this.#counts.set(client, left)
      else this.#counts.delete(client)
    }
  }
}
