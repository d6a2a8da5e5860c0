/**
 * A queue that shares a resource among clients by the time that they have used it: the entry of the client that has used
 * least goes first, so a client with expensive entries delays others by at most the one in progress. When the queue is full,
 * the client with the most places gives one up to a client that has fewer.
 */

interface Line<T> {
  entries: T[]
  /** Time used, and for a client that was absent at least what the last one served had used before. */
  usedMs: number
}

/** Clients without entries whose use is remembered while others wait. */
const mostAbsent = 1024

export class FairQueue<T> {
  readonly #most: number
  readonly #lines = new Map<string, Line<T>>()
  /** Clients without entries that used the resource since it was last idle. */
  readonly #absent = new Map<string, number>()
  /** What the client that was served last had used by then. */
  #servedMs = 0
  length = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Returns an entry that has no place: the newest of the client with the most entries, or this one. */
  add(client: string, entry: T): T | undefined {
    let removed: T | undefined
    if (this.length >= this.#most) {
      const longest = this.#longest()
      if (!longest || longest.entries.length <= (this.#lines.get(client)?.entries.length ?? 0) + 1)
        return entry
      removed = longest.entries.pop()
      this.length--
    }
    this.#lineOf(client).entries.push(entry)
    this.length++
    return removed
  }

  /** Removes and returns the next entry. */
  next(): T | undefined {
    let next: string | undefined
    let least = Infinity
    for (const [client, { usedMs }] of this.#lines) if (usedMs < least) [next, least] = [client, usedMs]
    if (next === undefined) {
      this.#absent.clear()
      return undefined
    }
    const line = this.#lines.get(next)!
    this.#servedMs = line.usedMs
    this.length--
    // The last of those with equal use.
    this.#lines.delete(next)
    if (line.entries.length > 1) this.#lines.set(next, line)
    else this.#remember(next, line.usedMs)
    return line.entries.shift()
  }

  /** The client's entry used the resource for this time. */
  used(client: string, ms: number): void {
    const line = this.#lines.get(client)
    if (line) line.usedMs += ms
    else this.#remember(client, (this.#absent.get(client) ?? this.#servedMs) + ms)
  }

  #lineOf(client: string): Line<T> {
    let line = this.#lines.get(client)
    if (!line) {
      const usedMs = Math.max(this.#servedMs, this.#absent.get(client) ?? 0)
      this.#absent.delete(client)
      line = { entries: [], usedMs }
      this.#lines.set(client, line)
    }
    return line
  }

  #remember(client: string, usedMs: number): void {
    this.#absent.delete(client)
    this.#absent.set(client, usedMs)
    if (this.#absent.size > mostAbsent) this.#absent.delete(this.#absent.keys().next().value!)
  }

  #longest(): Line<T> | undefined {
    let longest: Line<T> | undefined
    for (const line of this.#lines.values())
      if (line.entries.length > (longest?.entries.length ?? 0)) longest = line
    return longest
  }
}
