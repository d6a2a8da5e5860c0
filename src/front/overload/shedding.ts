/**
 * Chooses which requests are shed: first the most expensive ones of clients at or above their share of the recent work,
 * then all of theirs, and only then expensive ones of other clients.
 */

export interface Sheddable {
  client: string
  /** Predicted. */
  work: number
}

/** Recent arrivals that decide which work is expensive. */
const remembered = 256
/** Work of a client is forgotten exponentially, with this time constant. */
const memoryMs = 10_000
/** The mean over clients is computed this often: shedding must cost less than what it sheds. */
const meanEveryMs = 100
/** A client at this share of the mean counts as above it: a single client is always at the mean. */
const tolerance = 0.95
/** Beyond this number of clients, the one that came first is forgotten. */
const mostClients = 1_000

export class Shedder {
  readonly #recent: number[] = []
  #next = 0
  /** Accepted work by client, with the time up to which it has decayed. */
  readonly #used = new Map<string, { work: number; at: number }>()
  #mean = { work: 0, at: -Infinity }
  /** Shares of requests whose work equals the bound, carried over to the next. */
  #carried = 0

  /** The number of clients that are remembered. */
  get clients(): number {
    return this.#used.size
  }

  /** Decides on an arriving request, and counts its work unless it is shed. `pressure`: from 0 (none) to 1. */
  sheds(request: Sheddable, pressure: number, now: number): boolean {
    this.#recent[this.#next] = request.work
    this.#next = (this.#next + 1) % remembered
    const shed = pressure > 0 && this.#isAbove(request.work, this.#spared(request.client, pressure, now))
    if (!shed) this.#count(request, now)
    return shed
  }

  /** The share of requests, the cheapest ones, that this client's are not shed from. */
  #spared(client: string, pressure: number, now: number): number {
    const isOver = this.#usedBy(client, now) >= tolerance * this.#meanAt(now)
    return 1 - Math.min(1, Math.max(0, isOver ? 2 * pressure : 2 * pressure - 1))
  }

  /** Of equal requests, as many are shed as the share demands. */
  #isAbove(work: number, share: number): boolean {
    let [less, same] = [0, 0]
    for (const each of this.#recent) {
      if (each < work) less++
      else if (each === work) same++
    }
    const [below, equal] = [less / this.#recent.length, same / this.#recent.length]
    if (below >= share) return true
    if (below + equal <= share) return false
    this.#carried += (below + equal - share) / equal
    if (this.#carried < 1) return false
    this.#carried--
    return true
  }

  #count({ client, work }: Sheddable, now: number): void {
    this.#used.set(client, { work: this.#usedBy(client, now) + work, at: now })
    if (this.#used.size <= mostClients) return
    const [first] = this.#used.keys()
    this.#used.delete(first!)
  }

  #usedBy(client: string, now: number): number {
    const used = this.#used.get(client)
    return used ? used.work * Math.exp((used.at - now) / memoryMs) : 0
  }

  /** Also forgets clients whose work has decayed. */
  #meanAt(now: number): number {
    if (now - this.#mean.at < meanEveryMs) return this.#mean.work
    let sum = 0
    for (const client of this.#used.keys()) {
      const work = this.#usedBy(client, now)
      sum += work
      if (now - this.#used.get(client)!.at > 6 * memoryMs) this.#used.delete(client)
    }
    this.#mean = { work: sum / Math.max(1, this.#used.size), at: now }
    return this.#mean.work
  }
}
