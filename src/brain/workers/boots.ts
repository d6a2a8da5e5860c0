/** How long workers take to come up: learned from launches that joined. */

/** So many of the last boots are remembered. */
const kept = 64

export class Boots {
  readonly #lastMs: number[] = []
  #sorted: readonly number[] | undefined

  /** A launch has joined after so long. */
  add(ms: number): void {
    this.#lastMs.push(ms)
    if (this.#lastMs.length > kept) this.#lastMs.shift()
    this.#sorted = undefined
  }

  get count(): number {
    return this.#lastMs.length
  }

  /** So many in a hundred took no longer; undefined: none has come up yet. */
  percentile(percent: number): number | undefined {
    this.#sorted ??= this.#lastMs.toSorted((a, b) => a - b)
    const at = Math.ceil((percent / 100) * this.#sorted.length) - 1
    return this.#sorted[Math.max(0, at)]
  }
}
