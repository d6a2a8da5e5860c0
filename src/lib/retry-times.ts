/** When rejected requests may be sent again: how long conditions usually last, and how waits are spread. */

/** Waits are lengthened by up to this part. */
const spread = 0.25
/** Multiples of it fill the unit interval evenly, however many they are. */
const golden = (Math.sqrt(5) - 1) / 2

/**
 * A wait that is lengthened by up to a quarter. Requests that are rejected together have numbers in a row, which spread
 * their waits evenly, so that they do not come back together. The same number gives the same wait.
 */
export function spreadMs(ms: number, number: number): number {
  return Math.max(0, ms) * (1 + spread * ((number * golden) % 1))
}

/** The time that is left of something that usually takes `usualMs` and began `ageMs` ago. */
export function leftOf(usualMs: number, ageMs: number): number {
  // What has lasted too long may end at any moment, or go on for as long again.
  return Math.max(usualMs - ageMs, ageMs / 4)
}

/** Weight of the newest measurement in a mean that follows changes. */
const newest = 0.3

/** A mean of measurements, the newest of which count most. */
export class RecentMean {
  #mean: number
  #count = 0

  /** Until something was measured. */
  constructor(guess: number) {
    this.#mean = guess
  }

  get value(): number {
    return this.#mean
  }

  add(value: number): void {
    this.#count++
    this.#mean += (value - this.#mean) * Math.max(newest, 1 / this.#count)
  }
}

/** A condition in which requests are rejected, such as an outage. Learns how long it lasts, and predicts its end. */
export class RecoveryTime {
  readonly #now: () => number
  readonly #usualMs: RecentMean
  #since: number | undefined
  #told = 0

  /** `guessMs`: how long it lasts, until it has ended once. */
  constructor(guessMs: number, now = () => performance.now()) {
    this.#usualMs = new RecentMean(guessMs)
    this.#now = now
  }

  /** Idempotent. */
  begins(): void {
    this.#since ??= this.#now()
  }

  /** Idempotent. */
  ends(): void {
    if (this.#since === undefined) return
    this.#usualMs.add(this.#now() - this.#since)
    this.#since = undefined
  }

  /** For the next rejected request. A condition that has not begun begins now. */
  retryAfterMs(): number {
    const ageMs = this.#since === undefined ? 0 : this.#now() - this.#since
    return spreadMs(leftOf(this.#usualMs.value, ageMs), ++this.#told)
  }
}

/** How fast something is released: an amount per millisecond, of the recent past. */
export class ReleaseRate {
  readonly #now: () => number
  readonly #windowMs: number
  #sum = 0
  #at: number

  constructor(windowMs: number, now = () => performance.now()) {
    this.#windowMs = windowMs
    this.#now = now
    this.#at = now()
  }

  released(amount: number): void {
    this.#fade()
    this.#sum += amount
  }

  /** The time in which this much will be released; Infinity: nothing was released lately. */
  msFor(amount: number): number {
    this.#fade()
    const perMs = this.#sum / this.#windowMs
    return perMs > 0 ? amount / perMs : Infinity
  }

  #fade(): void {
    const now = this.#now()
    this.#sum *= Math.exp(-(now - this.#at) / this.#windowMs)
    this.#at = now
  }
}
