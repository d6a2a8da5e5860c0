/** Boot times, learned from launches that joined. */

/** How many of the last boots are remembered. */
const kept = 64

export class Boots {
  readonly #lastMs: number[] = []
  #sorted: readonly number[] | undefined

  add(ms: number): void {
    this.#lastMs.push(ms)
    if (this.#lastMs.length > kept) this.#lastMs.shift()
    this.#sorted = undefined
  }

  get count(): number {
    return this.#lastMs.length
  }

  /** Undefined: no worker has booted yet. */
  percentile(percent: number): number | undefined {
    this.#sorted ??= this.#lastMs.toSorted((a, b) => a - b)
    const at = Math.ceil((percent / 100) * this.#sorted.length) - 1
    return this.#sorted[Math.max(0, at)]
  }
}
