/** Requests that wait for a place at a program, first come, first served. */

/** A request that waits longer takes the general path. */
const longestMs = 100

export interface Waiting {
  /** True: nobody waits for it any more. */
  readonly isOver: boolean
}

export class WaitingRequests<T extends Waiting> {
  readonly #now: () => number
  readonly #entries: { request: T; since: number }[] = []

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  get length(): number {
    return this.#entries.length
  }

  add(request: T): void {
    this.#entries.push({ request, since: this.#now() })
  }

  /** Removes and returns the first. */
  next(): T | undefined {
    for (let first = this.#entries.shift(); first; first = this.#entries.shift())
      if (!first.request.isOver) return first.request
    return undefined
  }

  /** Removes and returns all that have waited too long. */
  late(): T[] {
    const since = this.#now() - longestMs
    const count = this.#entries.findIndex((each) => each.since > since)
    return this.#removed(count < 0 ? this.#entries.length : count)
  }

  /** Removes and returns all. */
  all(): T[] {
    return this.#removed(this.#entries.length)
  }

  #removed(count: number): T[] {
    if (count === 0) return []
    const requests = this.#entries.splice(0, count).map(({ request }) => request)
    return requests.filter(({ isOver }) => !isOver)
  }
}
