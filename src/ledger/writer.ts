/** Writer: decides when rows are written, in which groups, and what happens when that fails. */
import { LedgerError } from '../lib/errors.ts'
import { Backlog, type Bulk } from './backlog.ts'

export interface WriterLimits {
  /** Most rows in memory, and most characters of text in them. */
  maxRows: number
  maxCharacters: number
  /** A row waits this long for others to share its transaction. */
  gatherMs: number
  /** The pause after a failure; it doubles with each further one, up to `maxRetryMs`. */
  retryMs: number
  maxRetryMs: number
  /** `flush` and `close` give up when nothing could be written for this time. */
  flushMs: number
  troubleEveryMs: number
}

export const writerLimits: Readonly<WriterLimits> = {
  maxRows: 100_000,
  maxCharacters: 64 * 2 ** 20,
  gatherMs: 200,
  retryMs: 100,
  maxRetryMs: 5_000,
  flushMs: 10_000,
  troubleEveryMs: 5_000,
}

/** Copying a larger batch to another thread would stall this one: 500 rows take about 1 ms. */
const batchLimits = { maxRows: 500, maxCharacters: 2 ** 20 }

export interface WriterOptions<T> {
  /** How errors name the ledger. */
  name: string
  /** All or nothing. Called again with the same rows after a failure, so a repeat must do no harm. */
  write: (rows: T[]) => Promise<unknown>
  /** A copy of what is right, or words for what is wrong with it. */
  copy: (row: T) => T | string
  /** Called at most once every `troubleEveryMs` for each kind of trouble: not written, or malformed. */
  onTrouble: (error: LedgerError) => void
  limits: WriterLimits
}

export class Writer<T extends Bulk> {
  readonly #options: WriterOptions<T>
  readonly #limits: WriterLimits
  readonly #backlog: Backlog<T>
  readonly #quietUntil = { unwritten: -Infinity, malformed: -Infinity }
  #sending = false
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #malformed = 0
  /** One for each flush that waits. */
  readonly #patience = new Set<NodeJS.Timeout>()
  #closed = false
  #stopped = false

  constructor(options: WriterOptions<T>) {
    this.#options = options
    this.#limits = options.limits
    this.#backlog = new Backlog(options.limits)
  }

  get dropped(): number {
    return this.#backlog.lost + this.#malformed
  }

  record(row: T): void {
    if (this.#closed) return
    const copy = this.#options.copy(row)
    if (typeof copy === 'string') {
      this.#malformed++
      this.#report('malformed', `a row was dropped: ${copy}`)
      return
    }
    this.#backlog.push(copy)
    this.#sendIn(this.#limits.gatherMs)
  }

  async flush(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const giveUp = this.#backlog.wait(resolve)
    const timer = setTimeout(() => {
      giveUp()
      reject(this.#error(`nothing could be written for ${this.#limits.flushMs} ms; the rows wait in memory`))
    }, this.#limits.flushMs)
    this.#patience.add(timer)
    // Somebody waits: neither gather nor pause.
    if (!this.#sending) this.#send()
    try {
      const lost = await promise
      if (lost > 0) throw this.#error(`${lost} rows were dropped before they could be written`)
    } finally {
      clearTimeout(timer)
      this.#patience.delete(timer)
    }
  }

  /** Flushes as far as possible, then writes no more. Never rejects; to be called once. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush().catch(() => {})
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#quietUntil.unwritten = -Infinity
    const lost = this.#backlog.size
    if (lost > 0) this.#report('unwritten', `closed with ${lost} rows that could not be written and are lost`)
  }

  #sendIn(pauseMs: number): void {
    if (!this.#sending && !this.#stopped) this.#timer ??= setTimeout(() => this.#send(), pauseMs)
  }

  async #send(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#backlog.batch(batchLimits)
    if (rows.length === 0) return
    this.#sending = true
    let trouble: string | undefined
    try {
      await this.#options.write(rows)
      this.#failures = 0
      for (const timer of this.#patience) timer.refresh()
    } catch (error) {
      trouble = (error as Error).message
      this.#failures++
    }
    this.#sending = false
    this.#backlog.settle(trouble === undefined)
    if (trouble !== undefined) {
      const { size, lost } = this.#backlog
      this.#report('unwritten', `${trouble}; ${size} rows wait in memory, ${lost} were dropped`)
    }
    if (this.#backlog.size > 0) this.#sendIn(this.#pauseMs(rows.length))
  }

  #pauseMs(sent: number): number {
    const { retryMs, maxRetryMs, gatherMs } = this.#limits
    if (this.#failures > 0) return Math.min(maxRetryMs, retryMs * 2 ** (this.#failures - 1))
    return this.#backlog.awaited || sent === batchLimits.maxRows ? 0 : gatherMs
  }

  #report(kind: 'unwritten' | 'malformed', problem: string): void {
    const now = performance.now()
    if (now < this.#quietUntil[kind]) return
    this.#quietUntil[kind] = now + this.#limits.troubleEveryMs
    try {
      this.#options.onTrouble(this.#error(problem))
    } catch {
      // Whoever listens to trouble must not cause more of it here.
    }
  }

  #error(problem: string): LedgerError {
    const named = problem.startsWith(this.#options.name)
    return new LedgerError(named ? problem : `${this.#options.name}: ${problem}`)
  }
}
