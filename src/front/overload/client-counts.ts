/** Counts what each client has, such as connections, up to a limit for each. */

import { RecentMean, spreadMs } from '../../lib/retry-times.ts'

/** How long a client keeps one, until one was released. */
const guessMs = 1_000

export class ClientCounts {
  readonly #most: number
  readonly #now: () => number
  readonly #counts = new Map<string, number>()
  readonly #heldMs = new RecentMean(guessMs)
  #told = 0

  constructor(most: number, now = () => performance.now()) {
    this.#most = most
    this.#now = now
  }

  /** Returns a function that releases it, which may be called repeatedly. Undefined: the client has the maximum. */
  take(client: string): (() => void) | undefined {
    const count = this.#counts.get(client) ?? 0
    if (count >= this.#most) return undefined
    this.#counts.set(client, count + 1)
    let released = false
    const since = this.#now()
    return () => {
      if (released) return
      released = true
      this.#heldMs.add(this.#now() - since)
      const left = this.#counts.get(client)! - 1
      if (left > 0) this.#counts.set(client, left)
      else this.#counts.delete(client)
    }
  }

  /** The time in which a client that has the maximum is expected to release one. */
  retryAfterMs(): number {
    return spreadMs(this.#heldMs.value / Math.max(1, this.#most), ++this.#told)
  }
}
