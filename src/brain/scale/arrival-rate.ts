/** How many jobs arrive a second, now and a while ahead: level and trend, both smoothed, and quick to see a crowd. */

export interface SavedRate {
  level: number
  trend: number
  bins: number
  count: number
  surges: number
}

/** A bin is out of the ordinary beyond so many standard deviations, and so many of them in a row are no accident. */
const [surgeSigmas, surgeBins] = [4, 2]

export class ArrivalRate {
  readonly #binMs: number
  readonly #levelMs: number
  readonly #trendMs: number
  #state: SavedRate = { level: 0, trend: 0, bins: 0, count: 0, surges: 0 }

  constructor(binMs: number, levelMs: number, trendMs: number) {
    this.#binMs = binMs
    this.#levelMs = levelMs
    this.#trendMs = trendMs
  }

  /** One has come. True: so many in one bin cannot be chance. */
  add(): boolean {
    const state = this.#state
    state.count++
    const usual = (state.level * this.#binMs) / 1000
    return state.bins > 0 && state.count === Math.ceil(usual + 2 * surgeSigmas * Math.sqrt(usual + 1)) + 10
  }

  /** A bin of so many milliseconds is over. */
  next(ms: number): void {
    const state = this.#state
    const rate = (state.count * 1000) / ms
    const expected = state.level + (state.trend * ms) / 1000
    const sigma = Math.sqrt(Math.max(1, (expected * ms) / 1000)) * (1000 / ms)
    state.count = 0
    state.bins++
    // The first bins say more than what was known before them.
    const a = Math.max(1 / state.bins, 1 - Math.exp(-ms / this.#levelMs))
    const surge = rate > expected + surgeSigmas * sigma
    state.surges = surge ? state.surges + 1 : 0
    if (state.surges >= surgeBins) {
      state.level = rate
      state.surges = 0
      return
    }
    const level = Math.max(0, expected + a * (rate - expected))
    const b = 1 - Math.exp(-ms / this.#trendMs)
    const slope = ((level - state.level) * 1000) / ms
    state.trend = state.bins * ms < this.#trendMs ? 0 : state.trend + b * (slope - state.trend)
    state.level = level
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
