/** A map with bounded size: a new key evicts the least recently used one. */

export class Recent<V> {
  readonly #most: number
  readonly #entries = new Map<string, V>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  /** Marks the key as used. */
  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // Maps iterate in insertion order: inserting the key again moves it to the end.
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

  keys(): IterableIterator<string> {
    return this.#entries.keys()
  }

  values(): IterableIterator<V> {
    return this.#entries.values()
  }
}
