/** How much work each client may ask for: a bucket for each, filled at a steady rate, that jobs are paid from. */

import { ConfigError } from '../../lib/errors.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import type { Reason } from '../../model/reason.ts'

export interface RateLimit {
  /** What flows into each client's bucket. */
  workPerMinute: number
  /** What the bucket holds. Default: what flows in within a minute. */
  burst?: number
}

/** So many buckets are remembered; of more, those nearest to full are taken to be full. */
const mostBuckets = 100_000
/** No bucket is in debt for longer, so that sums stay numbers. */
const latest = 2 ** 52

export class RateLimits {
  readonly #workPerMinute: number
  readonly #burst: number
  readonly #workPerMs: number
  readonly #most: number
  // A bucket is known by the time at which it will be full: it need not be touched while it fills.
  readonly #fullAt = new Heap<string>()
  readonly #entries = new Map<string, Entry<string>>()
  #ties = 0

  constructor({ workPerMinute, burst = workPerMinute }: RateLimit, most = mostBuckets) {
    check('workPerMinute', workPerMinute)
    check('burst', burst)
    this.#workPerMinute = workPerMinute
    this.#burst = burst
    this.#workPerMs = workPerMinute / 60_000
    this.#most = most
  }

  /** Clients whose buckets are not known to be full. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Pays for a job, or says why not; then nothing is taken. A job that needs more than the bucket can hold is paid
   * for from a full one, which then is in debt.
   */
  take(client: string, work: number, now: number): Reason | undefined {
    this.#forgetFull(now)
    const fullAt = this.#fullAtOf(client, now)
    const allowedAt = fullAt - (this.#burst - Math.min(work, this.#burst)) / this.#workPerMs
    if (allowedAt > now) {
      return {
        code: 'rate-limit',
        client,
        work,
        have: Math.floor(this.#burst - (fullAt - now) * this.#workPerMs),
        perMinute: this.#workPerMinute,
        retryAfterMs: Math.ceil(allowedAt - now),
      }
    }
    this.#put(client, fullAt + work / this.#workPerMs, now)
    return undefined
  }

  /** Takes so much more, whatever is there; less than nothing gives back. */
  adjust(client: string, work: number, now: number): void {
    if (work === 0) return
    this.#put(client, this.#fullAtOf(client, now) + work / this.#workPerMs, now)
  }

  #fullAtOf(client: string, now: number): number {
    const entry = this.#entries.get(client)
    return entry ? Math.max(now, this.#fullAt.keyOf(entry)) : now
  }

  #put(client: string, fullAt: number, now: number): void {
    const entry = this.#entries.get(client)
    if (fullAt <= now) {
      if (entry) this.#fullAt.remove(entry)
      this.#entries.delete(client)
      return
    }
    const until = Math.min(fullAt, latest)
    if (entry) this.#fullAt.put(entry, until, ++this.#ties)
    else this.#entries.set(client, this.#fullAt.push(client, until, ++this.#ties))
    if (this.#entries.size > this.#most) this.#forgetFirst()
  }

  #forgetFull(now: number): void {
    while (this.#fullAt.topKey() <= now) this.#forgetFirst()
  }

  #forgetFirst(): void {
    this.#entries.delete(this.#fullAt.pop()!)
  }
}

function check(what: keyof RateLimit, value: number): void {
  if (value > 0 && value < Infinity) return
  throw new ConfigError(`rateLimit.${what} = ${value}: must be a number above 0`)
}
