/** Arrivals per second, now and ahead: smoothed level and trend that react at once to a surge. */

/** A bin with this many standard deviations, and this many jobs, more than usual is unusual; two in a row are a surge. */
const [sigmas, leastJobs, bins] = [4, 10, 2]
/** One bin this many times further off is a surge by itself. */
const atOnce = 2

export class ArrivalRate {
  #binMs: number
  #levelMs: number
  #trendMs: number
  #level = 0
  #trend = 0
  /** Bins since the start, or since the last surge. */
  #bins = 0
  /** Jobs in the current bin. */
  #count = 0
  /** Unusual bins in a row. */
  #unusual = 0

  constructor(binMs: number, levelMs: number, trendMs: number) {
    this.#binMs = binMs
    this.#levelMs = levelMs
    this.#trendMs = trendMs
  }

  /** Changes the bin and the smoothing times. */
  pace(binMs: number, levelMs: number, trendMs: number): void {
    this.#binMs = binMs
    this.#levelMs = levelMs
    this.#trendMs = trendMs
  }

  /** Counts one arrival. True: it makes the current bin a surge, before the bin is over. */
  add(): boolean {
    this.#count++
    return this.#count === this.#surgeCount
  }

  /** The number of jobs in one bin that is a surge by itself. */
  get #surgeCount(): number {
    const usual = (this.#level * this.#binMs) / 1000
    return this.#bins < bins ? Infinity : Math.ceil(usual + leastJobs + atOnce * sigmas * Math.sqrt(usual))
  }

  get surges(): boolean {
    return this.#count >= this.#surgeCount
  }

  /** Ends a bin of this length and returns its arrivals. */
  next(ms: number): number {
    const surges = this.surges
    const count = this.#count
    // All of a surge may have arrived at one instant: its rate is that over a whole bin, not over the part seen.
    const rate = (count * 1000) / (surges ? Math.max(ms, this.#binMs) : ms)
    const expected = Math.max(0, this.#level + (this.#trend * ms) / 1000)
    const usual = (expected * ms) / 1000
    this.#count = 0
    this.#bins++
    this.#unusual = count > usual + leastJobs + sigmas * Math.sqrt(usual) ? this.#unusual + 1 : 0
    if (surges || this.#unusual >= bins) this.#restart(Math.max(rate, expected))
    else this.#smooth(rate, expected, ms)
    return count
  }

  /** After a surge the smoothed past no longer applies. */
  #restart(level: number): void {
    this.#level = level
    this.#trend = 0
    this.#bins = 1
    this.#unusual = 0
  }

  #smooth(rate: number, expected: number, ms: number): void {
    // The first bins, also after a surge, outweigh what was known before them.
    const a = Math.max(1 / this.#bins, 1 - Math.exp(-ms / this.#levelMs))
    const level = Math.max(0, expected + a * (rate - expected))
    const slope = ((level - this.#level) * 1000) / ms
    const b = 1 - Math.exp(-ms / this.#trendMs)
    this.#trend = this.#bins * this.#binMs < this.#trendMs ? 0 : this.#trend + b * (slope - this.#trend)
    this.#level = level
  }

  get level(): number {
    return this.#level
  }

  /** The rate in this many seconds, if the trend continues. */
  ahead(seconds: number): number {
    return Math.max(0, this.#level + this.#trend * seconds)
  }
}
