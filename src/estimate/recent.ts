/** A map that holds so many keys: the one not used for longest makes room for a new one. */

export class Recent<V> {
  readonly #most: number
  readonly #entries = new Map<string, V>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  /** Counts as a use. */
  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // A map keeps the order of insertion, so the key goes to its end.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  values(): IterableIterator<V> {
    return this.#entries.values()
  }
}
