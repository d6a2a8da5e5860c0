/**
 * Quantities over virtual time, as means over equal intervals. The length of a run is unknown beforehand, so whenever
 * the intervals become too many, each pair is merged.
 */

const most = 256

export class Timeline {
  readonly #sums: Float64Array[]
  readonly #current: Float64Array
  #stretchMs = 1
  #at = 0

  constructor(quantities: number) {
    this.#sums = Array.from({ length: quantities }, () => new Float64Array(most))
    this.#current = new Float64Array(quantities)
  }

  /** The quantities have these values from `now` on. */
  set(now: number, ...values: number[]): void {
    this.#advance(now)
    for (let i = 0; i < this.#current.length; i++) this.#current[i] = values[i]!
  }

  /** The mean of one quantity in each interval before `untilMs`, with the start of the interval. */
  means(quantity: number, untilMs: number): [ms: number, mean: number][] {
    const points: [number, number][] = []
    for (let i = 0; i < most && i * this.#stretchMs < Math.min(untilMs, this.#at); i++) {
      const fromMs = i * this.#stretchMs
      const lengthMs = Math.min(this.#stretchMs, this.#at - fromMs)
      points.push([fromMs, this.#sums[quantity]![i]! / lengthMs])
    }
    return points
  }

  #advance(now: number): void {
    while (now > most * this.#stretchMs) this.#halve()
    while (this.#at < now) {
      const index = Math.min(most - 1, Math.floor(this.#at / this.#stretchMs))
      const until = index === most - 1 ? now : Math.min(now, (index + 1) * this.#stretchMs)
      for (let i = 0; i < this.#sums.length; i++)
        this.#sums[i]![index]! += this.#current[i]! * (until - this.#at)
      this.#at = until
    }
  }

  #halve(): void {
    for (const sums of this.#sums) {
      for (let i = 0; i < most / 2; i++) sums[i] = sums[2 * i]! + sums[2 * i + 1]!
      sums.fill(0, most / 2)
    }
    this.#stretchMs *= 2
  }
}
