/** Flushes what was written during a turn of the event loop at its end, so that many frames share a system call. */

export interface Flushable {
  flush(): void
}

export class EndOfTurn {
  readonly #dirty = new Set<Flushable>()
  readonly #flush = () => {
    for (const each of this.#dirty) each.flush()
    this.#dirty.clear()
  }

  /** Idempotent until the end of the turn. */
  add(written: Flushable): void {
    if (this.#dirty.size === 0) setImmediate(this.#flush)
    this.#dirty.add(written)
  }
}
