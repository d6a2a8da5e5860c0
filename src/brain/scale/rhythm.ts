/** The rhythm of the day: how many jobs arrive at which time of it, once a whole day has been seen. */

const dayMs = 86_400_000
const parts = 144
const partMs = dayMs / parts
/** The last day counts for half of what is known. */
const news = 0.5
/** What the rhythm says of the next minutes is believed within these bounds. */
const [leastRatio, mostRatio] = [0.5, 2]

export interface SavedRhythm {
  /** Jobs a second in each part of the day; 0: not seen. */
  rates: number[]
  part: number
  sum: number
  ms: number
  beganAt: number
}

export class Rhythm {
  #state: SavedRhythm = { rates: new Array<number>(parts).fill(0), part: -1, sum: 0, ms: 0, beganAt: -1 }

  /** So many have come in the last `ms`. */
  add(count: number, ms: number, now: number): void {
    const state = this.#state
    if (state.beganAt < 0) state.beganAt = now
    const part = Math.floor((now % dayMs) / partMs)
    if (part !== state.part) this.#close(part)
    state.sum += count
    state.ms += ms
  }

  #close(part: number): void {
    const state = this.#state
    // A part of which only a piece was seen tells nothing.
    if (state.part >= 0 && state.ms >= partMs * 0.9) {
      const rate = (state.sum / state.ms) * 1000
      const before = state.rates[state.part]!
      state.rates[state.part] = before === 0 ? rate : before + news * (rate - before)
    }
    state.part = part
    state.sum = 0
    state.ms = 0
  }

  /** How many times as many as now there will be in so long, as of other days; undefined: no day has been seen. */
  ratio(now: number, aheadMs: number): number | undefined {
    const { beganAt } = this.#state
    if (beganAt < 0 || now - beganAt < dayMs) return undefined
    const [here, there] = [this.#at(now), this.#at(now + aheadMs)]
    if (!(here > 0 && there > 0)) return undefined
    return Math.min(mostRatio, Math.max(leastRatio, there / here))
  }

  /** Between the middles of parts it goes evenly from one to the next. */
  #at(time: number): number {
    const { rates } = this.#state
    const place = (time % dayMs) / partMs - 0.5
    const before = Math.floor(place)
    const [a, b] = [rates[(before + parts) % parts]!, rates[(before + 1) % parts]!]
    return a > 0 && b > 0 ? a + (place - before) * (b - a) : 0
  }

  save(): SavedRhythm {
    return structuredClone(this.#state)
  }

  load(saved: SavedRhythm): void {
    this.#state = structuredClone(saved)
  }
}
