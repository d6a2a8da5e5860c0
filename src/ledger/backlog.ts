/**
 * Backlog: rows that are not written yet, in order, bounded. A batch stays here until it is known to be written,
 * so that a failed one needs no putting back. Rows are numbered from 0 in the order of their arrival.
 */
import type { LedgerRow } from './ledger.ts'

export interface BacklogLimits {
  maxRows: number
  /** Bounds the texts that can be large. */
  maxCharacters: number
}

/** What can be large in a row. */
export interface Bulk {
  parameters: string
  features?: string
  key?: string
}

const charactersOf = ({ parameters, features = '', key = '' }: Bulk) =>
  parameters.length + features.length + key.length

interface Waiter {
  /** The number after the last row it waits for. */
  end: number
  lost: number
  done: (lost: number) => void
}

export class Backlog<T extends Bulk = LedgerRow> {
  readonly #limits: BacklogLimits
  /** `#rows[#start]` has the number `#head`; the cells before it are empty. */
  #rows: (T | undefined)[] = []
  #start = 0
  #head = 0
  #characters = 0
  /** The fate of the rows before this one is known: written, or lost. */
  #settled = 0
  /** Rows in the batch whose fate is open; they begin at `#settled`. */
  #taken = 0
  #lost = 0
  #waiters: Waiter[] = []

  constructor(limits: BacklogLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#rows.length - this.#start
  }

  /** Rows that were pushed out and will not be written. */
  get lost(): number {
    return this.#lost
  }

  get awaited(): boolean {
    return this.#waiters.length > 0
  }

  /** Beyond the limits the oldest rows are pushed out, be they in a batch or not. */
  push(row: T): void {
    this.#rows.push(row)
    this.#characters += charactersOf(row)
    while (this.size > this.#limits.maxRows || this.#characters > this.#limits.maxCharacters) this.#shift()
    if (this.#taken === 0) this.#settle(this.#head, 'lost')
  }

  /** The oldest rows, as many as fit and at least one if there is one. `settle` must follow. */
  batch({ maxRows, maxCharacters }: BacklogLimits): T[] {
    const batch: T[] = []
    let characters = 0
    for (let i = this.#start; i < this.#rows.length && batch.length < maxRows; i++) {
      const row = this.#rows[i]!
      characters += charactersOf(row)
      if (characters > maxCharacters && batch.length > 0) break
      batch.push(row)
    }
    this.#taken = batch.length
    return batch
  }

  /** The last batch was written as a whole, or not at all. */
  settle(written: boolean): void {
    const end = this.#settled + this.#taken
    this.#taken = 0
    if (written) {
      while (this.#head < end) this.#shift()
      this.#settle(end, 'written')
    }
    this.#settle(this.#head, 'lost')
  }

  /**
   * Calls `done` once the fate of all rows pushed so far is known, with how many of them were lost meanwhile.
   * Returns a function that gives up waiting.
   */
  wait(done: (lost: number) => void): () => void {
    const waiter = { end: this.#head + this.size, lost: 0, done }
    this.#waiters.push(waiter)
    this.#settle(this.#settled, 'written')
    return () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
    }
  }

  #settle(end: number, fate: 'written' | 'lost'): void {
    if (fate === 'lost') {
      this.#lost += end - this.#settled
      for (const waiter of this.#waiters)
        waiter.lost += Math.max(0, Math.min(waiter.end, end) - this.#settled)
    }
    this.#settled = end
    if (this.#waiters.length === 0) return
    const ready = this.#waiters.filter((waiter) => waiter.end <= end)
    this.#waiters = this.#waiters.filter((waiter) => waiter.end > end)
    for (const waiter of ready) waiter.done(waiter.lost)
  }

  #shift(): void {
    this.#characters -= charactersOf(this.#rows[this.#start]!)
    this.#rows[this.#start++] = undefined
    this.#head++
    // Moving the rest down only now and then keeps a push cheap while rows are being pushed out.
    if (this.#start < 1024 || this.#start * 2 < this.#rows.length) return
    this.#rows = this.#rows.slice(this.#start)
    this.#start = 0
  }
}
