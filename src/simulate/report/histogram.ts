/** A histogram of positive values with logarithmic buckets: constant memory, accurate to a few per cent. */

const [lowest, highest] = [-6, 14]

export class Histogram {
  readonly #perDecade: number
  readonly #counts: Float64Array
  readonly #sums: Float64Array
  count = 0

  constructor(perDecade = 40) {
    this.#perDecade = perDecade
    this.#counts = new Float64Array((highest - lowest) * perDecade)
    this.#sums = new Float64Array(this.#counts.length)
  }

  add(value: number): void {
    const bucket = bucketOf(value, this.#perDecade)
    this.#counts[bucket]!++
    this.#sums[bucket]! += value
    this.count++
  }

  /** The mean of the bucket that holds this quantile. */
  quantile(share: number): number {
    let below = 0
    for (let i = 0; i < this.#counts.length; i++) {
      below += this.#counts[i]!
      if (below > share * this.count) return this.#sums[i]! / this.#counts[i]!
    }
    return Number.NaN
  }

  /** For each bucket edge, the number of values below it. */
  cumulative(): [edge: number, below: number][] {
    const points: [number, number][] = []
    let below = 0
    for (let i = 0; i < this.#counts.length; i++) {
      const here = this.#counts[i]!
      if (here > 0 && points.length === 0) points.push([edgeOf(i, this.#perDecade), 0])
      below += here
      if (points.length > 0 && (here > 0 || below < this.count))
        points.push([edgeOf(i + 1, this.#perDecade), below])
    }
    return points
  }
}

/** The bucket of a value; values beyond all buckets are in the last. */
export function bucketOf(value: number, perDecade: number): number {
  const at = Math.floor((Math.log10(value) - lowest) * perDecade)
  return Math.max(0, Math.min((highest - lowest) * perDecade - 1, at || 0))
}

/** Where a bucket begins. */
export function edgeOf(bucket: number, perDecade: number): number {
  return 10 ** (bucket / perDecade + lowest)
}
