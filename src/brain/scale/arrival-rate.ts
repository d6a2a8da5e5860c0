/** How many jobs arrive a second, now and a while ahead: level and trend, both smoothed, and quick to see a crowd. */

export interface SavedRate {
  level: number
  trend: number
  bins: number
  /** In the bin under way. */
  count: number
  /** Bins in a row that were out of the ordinary. */
  over: number
}

/** Out of the ordinary is what lies beyond so many standard deviations, and is so many jobs; two bins of that are a crowd, */
const [sigmas, leastJobs, bins] = [4, 10, 2]
/** and so is one that is this many times further off. */
const atOnce = 2

export class ArrivalRate {
  #binMs: number
  #levelMs: number
  #trendMs: number
  #state: SavedRate = { level: 0, trend: 0, bins: 0, count: 0, over: 0 }

  constructor(binMs: number, levelMs: number, trendMs: number) {
    this.#binMs = binMs
    this.#levelMs = levelMs
    this.#trendMs = trendMs
  }

  /** From now on it is smoothed over other times. */
  pace(binMs: number, levelMs: number, trendMs: number): void {
    this.#binMs = binMs
    this.#levelMs = levelMs
    this.#trendMs = trendMs
  }

  /** One has come. True: with it the bin under way, which is not over yet, is a crowd. */
  add(): boolean {
    this.#state.count++
    return this.#state.count === this.#crowd
  }

  /** So many are a crowd, whatever of the bin is left. */
  get #crowd(): number {
    const { level, bins: seen } = this.#state
    const usual = (level * this.#binMs) / 1000
    return seen < bins ? Infinity : Math.ceil(usual + leastJobs + atOnce * sigmas * Math.sqrt(usual))
  }

  get surges(): boolean {
    return this.#state.count >= this.#crowd
  }

  /** A bin of so many milliseconds is over. Returns how many came in it. */
  next(ms: number): number {
    const state = this.#state
    const surges = this.surges
    const { count } = state
    // A crowd is not taken for more than it is so far: all of it may have come at one instant.
    const rate = (count * 1000) / (surges ? Math.max(ms, this.#binMs) : ms)
    const expected = Math.max(0, state.level + (state.trend * ms) / 1000)
    const usual = (expected * ms) / 1000
    state.count = 0
    state.bins++
    state.over = count > usual + leastJobs + sigmas * Math.sqrt(usual) ? state.over + 1 : 0
    if (surges || state.over >= bins) {
      // What was smoothed is of another time: all begins anew.
      state.level = Math.max(rate, expected)
      state.trend = 0
      state.bins = 1
      state.over = 0
      return count
    }
    // The first bins, also after a crowd has come, say more than what was known before them.
    const a = Math.max(1 / state.bins, 1 - Math.exp(-ms / this.#levelMs))
    const level = Math.max(0, expected + a * (rate - expected))
    const slope = ((level - state.level) * 1000) / ms
    const b = 1 - Math.exp(-ms / this.#trendMs)
    state.trend = state.bins * this.#binMs < this.#trendMs ? 0 : state.trend + b * (slope - state.trend)
    state.level = level
    return count
  }

  get level(): number {
    return this.#state.level
  }

  /** In so many seconds, if things go on as they do. */
  ahead(seconds: number): number {
    const { level, trend } = this.#state
    return Math.max(0, level + trend * seconds)
  }

  save(): SavedRate {
    return { ...this.#state }
  }

  load(saved: SavedRate): void {
    this.#state = { ...saved }
  }
}
