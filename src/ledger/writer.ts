/** Writes rows in batches and retries failed batches with exponential backoff. */
import { LedgerError } from '../lib/errors.ts'
import { RowBuffer, type SizedRow } from './row-buffer.ts'

export interface WriterLimits {
  /** Maximum number of unwritten rows, and of the characters in them. */
  maxRows: number
  maxCharacters: number
  /** A row waits up to this time for others to share its transaction. */
  batchDelayMs: number
  /** Delay after the first failure; doubles with each further failure, up to `maxRetryMs`. */
  retryMs: number
  maxRetryMs: number
  /** `flush` and `close` fail after this time without a successful write. */
  flushMs: number
  errorEveryMs: number
}

export const writerLimits: Readonly<WriterLimits> = {
  maxRows: 100_000,
  maxCharacters: 64 * 2 ** 20,
  batchDelayMs: 200,
  retryMs: 100,
  maxRetryMs: 5_000,
  flushMs: 10_000,
  errorEveryMs: 5_000,
}

/** Copying a batch to the ledger's thread blocks this thread: about 1 ms for 500 rows. */
const batchLimits = { maxRows: 500, maxCharacters: 2 ** 20 }

export interface WriterOptions<T> {
  /** The ledger's name in error messages. */
  name: string
  /** Atomic and idempotent: called again with the same rows after a failure. */
  write: (rows: T[]) => Promise<unknown>
  /** A copy of a valid row, or an error message. */
  copy: (row: T) => T | string
  /** Called at most once per `errorEveryMs` for each kind of error: a failed write, or a malformed row. */
  onError: (error: LedgerError) => void
  limits: WriterLimits
}

export class Writer<T extends SizedRow> {
  readonly #options: WriterOptions<T>
  readonly #limits: WriterLimits
  readonly #buffer: RowBuffer<T>
  readonly #mutedUntil = { unwritten: -Infinity, malformed: -Infinity }
  #sending = false
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #malformed = 0
  /** One timer per pending flush. */
  readonly #flushTimers = new Set<NodeJS.Timeout>()
  #closed = false
  #stopped = false

  constructor(options: WriterOptions<T>) {
    this.#options = options
    this.#limits = options.limits
    this.#buffer = new RowBuffer(options.limits)
  }

  get dropped(): number {
    return this.#buffer.lost + this.#malformed
  }

  record(row: T): void {
    if (this.#closed) return
    const copy = this.#options.copy(row)
    if (typeof copy === 'string') {
      this.#malformed++
      this.#report('malformed', `a row was dropped: ${copy}`)
      return
    }
    this.#buffer.push(copy)
    this.#sendIn(this.#limits.batchDelayMs)
  }

  async flush(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const cancelWait = this.#buffer.wait(resolve)
    const timer = setTimeout(() => {
      cancelWait()
      reject(this.#error(`no write succeeded for ${this.#limits.flushMs} ms; the rows stay in memory`))
    }, this.#limits.flushMs)
    this.#flushTimers.add(timer)
    // A flush skips both the batch delay and the retry delay.
    if (!this.#sending) this.#send()
    try {
      const lost = await promise
      if (lost > 0) throw this.#error(`${lost} rows were dropped before they could be written`)
    } finally {
      clearTimeout(timer)
      this.#flushTimers.delete(timer)
    }
  }

  /** Flushes what it can, then stops writing. Never rejects. Must be called only once. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush().catch(() => {})
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#mutedUntil.unwritten = -Infinity
    const lost = this.#buffer.size
    if (lost > 0) this.#report('unwritten', `closed; ${lost} unwritten rows are lost`)
  }

  #sendIn(pauseMs: number): void {
    if (!this.#sending && !this.#stopped) this.#timer ??= setTimeout(() => this.#send(), pauseMs)
  }

  async #send(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#buffer.batch(batchLimits)
    if (rows.length === 0) return
    this.#sending = true
    let failure: string | undefined
    try {
      await this.#options.write(rows)
      this.#failures = 0
      for (const timer of this.#flushTimers) timer.refresh()
    } catch (error) {
      failure = (error as Error).message
      this.#failures++
    }
    this.#sending = false
    this.#buffer.settle(failure === undefined)
    if (failure !== undefined) {
      const { size, lost } = this.#buffer
      this.#report('unwritten', `${failure}; ${size} rows wait in memory, ${lost} were dropped`)
    }
    if (this.#buffer.size > 0) this.#sendIn(this.#pauseMs(rows.length))
  }

  #pauseMs(sent: number): number {
    const { retryMs, maxRetryMs, batchDelayMs } = this.#limits
    if (this.#failures > 0) return Math.min(maxRetryMs, retryMs * 2 ** (this.#failures - 1))
    return this.#buffer.hasWaiters || sent === batchLimits.maxRows ? 0 : batchDelayMs
  }

  #report(kind: 'unwritten' | 'malformed', problem: string): void {
    const now = performance.now()
    if (now < this.#mutedUntil[kind]) return
    this.#mutedUntil[kind] = now + this.#limits.errorEveryMs
    try {
      this.#options.onError(this.#error(problem))
    } catch {
      // An error in the listener must not stop the writer.
    }
  }

  #error(problem: string): LedgerError {
    const named = problem.startsWith(this.#options.name)
    return new LedgerError(named ? problem : `${this.#options.name}: ${problem}`)
  }
}
