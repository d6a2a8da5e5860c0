/**
 * A bounded buffer of rows that are not written yet, in order. A batch stays in the buffer until its write succeeds,
 * so a failed write only has to be repeated. Rows are numbered from 0 in order of arrival.
 */
import type { LedgerRow } from './ledger.ts'

export interface BufferLimits {
  maxRows: number
  /** Bounds the fields of `SizedRow`. */
  maxCharacters: number
}

/** The fields of a row that can be large. */
export interface SizedRow {
  parameters: string
  features?: string
  key?: string
}

const charactersOf = ({ parameters, features = '', key = '' }: SizedRow) =>
  parameters.length + features.length + key.length

interface Waiter {
  /** The number of the last awaited row, plus 1. */
  end: number
  lost: number
  done: (lost: number) => void
}

export class RowBuffer<T extends SizedRow = LedgerRow> {
  readonly #limits: BufferLimits
  /** `#rows[#start]` has the number `#head`; elements before it are undefined. */
  #rows: (T | undefined)[] = []
  #start = 0
  #head = 0
  #characters = 0
  /** Rows before this number are settled: written or lost. */
  #settled = 0
  /** Size of the batch that is being written; it begins at `#settled`. */
  #taken = 0
  #lost = 0
  #waiters: Waiter[] = []

  constructor(limits: BufferLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#rows.length - this.#start
  }

  /** Number of rows dropped because the buffer was full. */
  get lost(): number {
    return this.#lost
  }

  get hasWaiters(): boolean {
    return this.#waiters.length > 0
  }

  /** When a limit is exceeded, drops the oldest rows, even if they are in a batch. */
  push(row: T): void {
    this.#rows.push(row)
    this.#characters += charactersOf(row)
    while (this.size > this.#limits.maxRows || this.#characters > this.#limits.maxCharacters) this.#shift()
    if (this.#taken === 0) this.#settle(this.#head, 'lost')
  }

  /** The oldest rows within the limits; at least one unless the buffer is empty. The caller must call `settle`. */
  batch({ maxRows, maxCharacters }: BufferLimits): T[] {
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

  /** Reports whether the last batch was written. */
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
   * Calls `done` when all rows pushed so far are settled, with the number of them that were lost since this call.
   * Returns a function that cancels the wait.
   */
  wait(done: (lost: number) => void): () => void {
    const waiter = { end: this.#head + this.size, lost: 0, done }
    this.#waiters.push(waiter)
    this.#settle(this.#settled, 'written')
    return () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
    }
  }

  #settle(end: number, as: 'written' | 'lost'): void {
    if (as === 'lost') {
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
    // Compacting rarely keeps a push into a full buffer cheap.
    if (this.#start < 1024 || this.#start * 2 < this.#rows.length) return
    this.#rows = this.#rows.slice(this.#start)
    this.#start = 0
  }
}
