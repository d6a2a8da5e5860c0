/** The daily rhythm: arrivals by time of day, once a whole day has been seen. */

const dayMs = 86_400_000
const parts = 144
const partMs = dayMs / parts
/** The weight of the newest day. */
const news = 0.5
/** The rhythm may change the forecast by these factors at most. */
const [leastRatio, mostRatio] = [0.5, 2]

export class Rhythm {
  /** Jobs per second in each part of the day; 0: not seen. */
  readonly #rates = new Array<number>(parts).fill(0)
  /** The current part, with its jobs and the time seen of it. */
  #part = -1
  #sum = 0
  #ms = 0
  #beganAt = -1

  /** Counts the arrivals of the last `ms`. */
  add(count: number, ms: number, now: number): void {
    if (this.#beganAt < 0) this.#beganAt = now
    const part = Math.floor((now % dayMs) / partMs)
    if (part !== this.#part) this.#close(part)
    this.#sum += count
    this.#ms += ms
  }

  #close(part: number): void {
    // A part seen only in pieces is not representative.
    if (this.#part >= 0 && this.#ms >= partMs * 0.9) {
      const rate = (this.#sum / this.#ms) * 1000
      const before = this.#rates[this.#part]!
      this.#rates[this.#part] = before === 0 ? rate : before + news * (rate - before)
    }
    this.#part = part
    this.#sum = 0
    this.#ms = 0
  }

  /** The factor between arrivals `aheadMs` from now and arrivals now, by previous days; undefined: no day seen. */
  ratio(now: number, aheadMs: number): number | undefined {
    if (this.#beganAt < 0 || now - this.#beganAt < dayMs) return undefined
    const [here, there] = [this.#at(now), this.#at(now + aheadMs)]
    if (!(here > 0 && there > 0)) return undefined
    return Math.min(mostRatio, Math.max(leastRatio, there / here))
  }

  /** Interpolates between the middles of parts. */
  #at(time: number): number {
    const place = (time % dayMs) / partMs - 0.5
    const before = Math.floor(place)
    const [a, b] = [this.#rates[(before + parts) % parts]!, this.#rates[(before + 1) % parts]!]
    return a > 0 && b > 0 ? a + (place - before) * (b - a) : 0
  }
}
