/** Rate limits: each client has a token bucket that fills at a steady rate, and pays for its jobs from it. */

import { checkNumber } from '../../lib/checks.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { Allowance } from '../../model/allowance.ts'
import type { Reason } from '../../model/reason.ts'

export interface RateLimit {
  /** The rate at which each client's bucket fills. */
  workPerMinute: number
  /** The size of the bucket. Default: one minute's work. */
  burst?: number
  /** The work of a core in a second, by which clients are told what they have left. Undefined: they are not told. */
  coreWorkPerSecond?: number
}

/** The maximum number of buckets. Beyond it, the buckets nearest to full count as full. */
const mostBuckets = 100_000
/** The latest time at which a bucket is full, so that sums stay exact. */
const latest = 2 ** 52

export class RateLimits {
  readonly #workPerMinute: number
  readonly #burst: number
  readonly #workPerMs: number
  readonly #coreWorkPerSecond: number | undefined
  readonly #most: number
  // A bucket is stored as the time at which it will be full, so it need not be updated while it fills.
  readonly #fullAt = new Heap<string>()
  readonly #entries = new Map<string, Entry<string>>()
  #ties = 0

  constructor({ workPerMinute, burst = workPerMinute, coreWorkPerSecond }: RateLimit, most = mostBuckets) {
    checkNumber('rateLimit.workPerMinute', workPerMinute, { above: 0 })
    checkNumber('rateLimit.burst', burst, { above: 0 })
    this.#workPerMinute = workPerMinute
    this.#burst = burst
    this.#workPerMs = workPerMinute / 60_000
    this.#coreWorkPerSecond = coreWorkPerSecond
    this.#most = most
  }

  /** The number of buckets that are not known to be full. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Pays for a job, or returns why it cannot, and takes nothing. A job larger than the bucket is paid for from a full
   * bucket, which is then in debt.
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

  /** What the client is told that it has, once this work has been refunded. Undefined: nothing. */
  allowance(client: string, refund: number, now: number): Allowance | undefined {
    const unit = this.#coreWorkPerSecond
    if (unit === undefined) return undefined
    const fullMs = Math.max(0, this.#fullAtOf(client, now) - refund / this.#workPerMs - now)
    return {
      quota: this.#burst / unit,
      windowS: thousandths(this.#burst / this.#workPerMs / 1000),
      left: thousandths((this.#burst - fullMs * this.#workPerMs) / unit),
      fullS: thousandths(fullMs / 1000),
    }
  }

  /** Takes this work from the bucket, whatever it holds; a negative amount is a refund. */
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
