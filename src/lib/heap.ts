/**
 * A four-ary heap whose entries can be moved and removed. Entries order by key, then tie. If ties
 * are unique, the order of removal does not depend on the order of insertion.
 */

/** A handle to an item, for moving and removing it. */
export interface Entry<T> {
  readonly item: T
  /** Position, or -1 when the entry is not in the heap. */
  at: number
}

export class Heap<T> {
  // Keys are stored apart from the entries, so that a sift reads adjacent numbers only.
  #keys = new Float64Array(16)
  #ties = new Float64Array(16)
  #entries: Entry<T>[] = []

  get size(): number {
    return this.#entries.length
  }

  /** The first item, or undefined when empty. */
  top(): T | undefined {
    return this.#entries[0]?.item
  }

  /** The first item's key, or Infinity when empty. */
  topKey(): number {
    return this.#entries.length === 0 ? Infinity : this.#keys[0]!
  }

  /** The key of an entry that is in the heap. */
  keyOf(entry: Entry<T>): number {
    return this.#keys[entry.at]!
  }

  push(item: T, key: number, tie: number): Entry<T> {
    const entry: Entry<T> = { item, at: -1 }
    this.put(entry, key, tie)
    return entry
  }

  /** Inserts the entry, or moves it if it is already in the heap. */
  put(entry: Entry<T>, key: number, tie: number): void {
    let at = entry.at
    if (at >= 0 && key === this.#keys[at] && tie === this.#ties[at]) return
    if (at < 0) {
      at = this.#entries.length
      if (at === this.#keys.length) this.#grow()
      this.#entries.push(entry)
    }
    this.#settle(entry, key, tie, at)
  }

  pop(): T | undefined {
    const first = this.#entries[0]
    if (first) this.remove(first)
    return first?.item
  }

  /** Idempotent: an entry outside the heap is ignored. */
  remove(entry: Entry<T>): void {
    const at = entry.at
    if (at < 0) return
    entry.at = -1
    const last = this.#entries.pop()!
    if (last === entry) return
    const from = this.#entries.length
    this.#settle(last, this.#keys[from]!, this.#ties[from]!, at)
  }

  /**
   * The first accepted item in order, among the first `limit` items. Does not change the heap: it walks down from the
   * top, always to the least unvisited item.
   */
  find(accept: (item: T) => boolean, limit: number): T | undefined {
    if (this.#entries.length === 0) return undefined
    const top = this.#entries[0]!.item
    if (accept(top)) return top
    const edge: number[] = []
    for (let at = 1; at <= 4 && at < this.#entries.length; at++) edge.push(at)
    for (let looked = 1; looked < limit && edge.length > 0; looked++) {
      let pick = 0
      for (let i = 1; i < edge.length; i++) if (this.#before(edge[i]!, edge[pick]!)) pick = i
      const at = edge[pick]!
      const item = this.#entries[at]!.item
      if (accept(item)) return item
      edge[pick] = edge[edge.length - 1]!
      edge.pop()
      const first = at * 4 + 1
      const end = Math.min(first + 4, this.#entries.length)
      for (let child = first; child < end; child++) edge.push(child)
    }
    return undefined
  }

  #before(a: number, b: number): boolean {
    const ka = this.#keys[a]!
    const kb = this.#keys[b]!
    return ka < kb || (ka === kb && this.#ties[a]! < this.#ties[b]!)
  }

  /** The items in no particular order. */
  *[Symbol.iterator](): Iterator<T> {
    for (const entry of this.#entries) yield entry.item
  }

  /** The items with their keys, in no particular order. */
  *entries(): IterableIterator<{ item: T; key: number; tie: number }> {
    for (const { item, at } of this.#entries) yield { item, key: this.#keys[at]!, tie: this.#ties[at]! }
  }

  #settle(entry: Entry<T>, key: number, tie: number, from: number): void {
    const keys = this.#keys
    const ties = this.#ties
    const entries = this.#entries
    let at = from
    while (at > 0) {
      const up = (at - 1) >> 2
      const upKey = keys[up]!
      if (upKey < key || (upKey === key && ties[up]! <= tie)) break
      keys[at] = upKey
      ties[at] = ties[up]!
      const moved = entries[up]!
      entries[at] = moved
      moved.at = at
      at = up
    }
    const size = entries.length
    for (;;) {
      const first = at * 4 + 1
      if (first >= size) break
      let least = first
      let leastKey = keys[first]!
      const end = Math.min(first + 4, size)
      for (let child = first + 1; child < end; child++) {
        const k = keys[child]!
        if (k < leastKey || (k === leastKey && ties[child]! < ties[least]!)) {
          least = child
          leastKey = k
        }
      }
      if (key < leastKey || (key === leastKey && tie <= ties[least]!)) break
      keys[at] = leastKey
      ties[at] = ties[least]!
      const moved = entries[least]!
      entries[at] = moved
      moved.at = at
      at = least
    }
    keys[at] = key
    ties[at] = tie
    entries[at] = entry
    entry.at = at
  }

  #grow(): void {
    const keys = new Float64Array(this.#keys.length * 2)
    const ties = new Float64Array(this.#ties.length * 2)
    keys.set(this.#keys)
    ties.set(this.#ties)
    this.#keys = keys
    this.#ties = ties
  }
}
