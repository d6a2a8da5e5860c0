/** A ledger in one SQLite file. A thread of its own writes it, so that callers never wait for the disk. */
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LedgerError } from '../lib/errors.ts'
import { type Collected, checkLimit } from './collect.ts'
import {
  defaultWarmLimit,
  type Ledger,
  type LedgerCounts,
  type LedgerRow,
  type RecentQuery,
  type WarmQuery,
  type WarmRow,
} from './ledger.ts'
import {
  copyMetrics,
  type MetricsEntry,
  type MetricsKey,
  type MetricsRow,
  type OwnerFilter,
  storedKey,
} from './metrics.ts'
import { type RetentionLimits, retentionLimits } from './retention.ts'
import { copyRow } from './row.ts'
import { copySnapshot, type Snapshot, type SnapshotEntry } from './snapshots.ts'
import { type LedgerThread, startThread } from './sqlite/thread.ts'
import { Writer, type WriterLimits, writerLimits } from './writer.ts'

export interface SqliteLedgerOptions {
  /** Its folder is created if missing. Only one process at a time may have the file open. */
  file: string
  /**
   * Called when rows cannot be written (they are kept and retried, and the oldest are dropped when the buffer is full),
   * when a row is malformed, and when a query finds invalid rows: at most once per `errorEveryMs` for each of these.
   * Also called when a damaged file was renamed. Errors thrown by the callback are ignored.
   */
  onError?: (error: LedgerError) => void
  limits?: Partial<SqliteLedgerLimits>
  retention?: Partial<RetentionLimits>
}

export interface SqliteLedgerLimits extends WriterLimits {
  /** How long the thread waits for another process to unlock the file before the call fails. */
  busyMs: number
  /** Delay of pruning after opening, and between two of its steps. */
  pruneAfterMs: number
  pruneEveryMs: number
}

const threadLimits = { busyMs: 1_000, pruneAfterMs: 2_000, pruneEveryMs: 20 }

/**
 * Resolves when the file is open and can be written. Renames a damaged `ledger.db` and creates a new one; a file with
 * any other name is only used if it is a ledger or does not exist. Rejects with LedgerError, and leaves no thread
 * behind.
 */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const ledger = new SqliteLedger(options)
  await ledger.start()
  return ledger
}

class SqliteLedger implements Ledger {
  readonly #file: string
  readonly #options: SqliteLedgerOptions
  readonly #limits: SqliteLedgerLimits
  readonly #rows: Writer<LedgerRow>
  readonly #metrics: Writer<MetricsEntry>
  readonly #snapshots: Writer<SnapshotEntry>
  #running: Promise<LedgerThread> | undefined
  #closing: Promise<void> | undefined
  #skipped = 0
  #mutedUntil = -Infinity

  constructor(options: SqliteLedgerOptions) {
    this.#file = resolve(options.file)
    this.#options = options
    this.#limits = { ...writerLimits, ...threadLimits, ...options.limits }
    const onError = options.onError ?? (() => {})
    const shared = { name: `ledger ${this.#file}`, onError, limits: this.#limits }
    this.#rows = new Writer({
      ...shared,
      copy: copyRow,
      write: async (rows) => (await this.#thread()).call({ kind: 'write', rows }),
    })
    this.#metrics = new Writer({
      ...shared,
      copy: copyMetrics,
      write: async (entries) => (await this.#thread()).call({ kind: 'write-metrics', entries }),
    })
    this.#snapshots = new Writer({
      ...shared,
      copy: copySnapshot,
      write: async (entries) => {
        const snapshots = entries.map((entry) => entry.row)
        await (await this.#thread()).call({ kind: 'write-snapshots', snapshots })
      },
    })
  }

  async start(): Promise<void> {
    await this.#thread()
  }

  record(row: LedgerRow): void {
    this.#rows.record(row)
  }

  recordMetrics(row: MetricsRow): void {
    this.#metrics.record({ parameters: row?.parameters ?? '', row })
  }

  releaseMetrics(release: OwnerFilter): void {
    this.#metrics.record({ parameters: '', release })
  }

  saveSnapshot(row: Snapshot): void {
    this.#snapshots.record({ parameters: '', row })
  }

  async snapshots(workload: string): Promise<Snapshot[]> {
    const thread = await this.#openThread()
    return this.#validRows(await thread.call({ kind: 'snapshots', workload }))
  }

  async metricsFor(key: MetricsKey): Promise<MetricsRow | undefined> {
    const thread = await this.#openThread()
    return thread.call({ kind: 'metrics', key: storedKey(key) })
  }

  async recentMetrics({ workload, limit }: RecentQuery): Promise<MetricsRow[]> {
    this.#mustBeOpen()
    checkLimit(limit)
    const thread = await this.#thread()
    return thread.call({ kind: 'recent-metrics', query: { workload, limit } })
  }

  async flush(): Promise<void> {
    this.#mustBeOpen()
    await Promise.all(this.#writers().map((each) => each.flush()))
  }

  async recent(query: RecentQuery): Promise<LedgerRow[]> {
    this.#mustBeOpen()
    checkLimit(query.limit)
    const thread = await this.#thread()
    return this.#validRows(await thread.call({ kind: 'recent', query }))
  }

  async warm({ workload, limit = defaultWarmLimit }: WarmQuery): Promise<WarmRow[]> {
    this.#mustBeOpen()
    checkLimit(limit)
    const thread = await this.#thread()
    return this.#validRows(await thread.call({ kind: 'warm', query: { workload, limit } }))
  }

  async counts(): Promise<LedgerCounts> {
    const thread = await this.#openThread()
    const rows = await thread.call({ kind: 'count' })
    const dropped = this.#writers().reduce((sum, each) => sum + each.dropped, 0)
    return { rows, dropped, skipped: this.#skipped }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all(this.#writers().map((each) => each.close()))
    const thread = await this.#running?.catch(() => undefined)
    if (!thread) return
    const closed = thread.call({ kind: 'close' }).catch(() => {})
    await Promise.race([closed, delay(this.#limits.flushMs, undefined, { ref: false })])
    await thread.end()
  }

  #writers() {
    return [this.#rows, this.#metrics, this.#snapshots] as const
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new LedgerError(`ledger ${this.#file}: the ledger is closed. Open it again`)
  }

  async #openThread(): Promise<LedgerThread> {
    this.#mustBeOpen()
    return this.#thread()
  }

  /** Starts a new thread if the last one has ended. */
  #thread(): Promise<LedgerThread> {
    if (this.#running) return this.#running
    const { busyMs, pruneAfterMs, pruneEveryMs } = this.#limits
    const retention = { ...retentionLimits, ...this.#options.retention }
    const data = { file: this.#file, busyMs, pruneAfterMs, pruneEveryMs, retention }
    const starting = startThread(data, (notice) => this.#report(notice))
    const clear = () => {
      this.#running = undefined
    }
    starting.then(({ ended }) => ended.then(clear), clear)
    this.#running = starting
    return starting
  }

  #validRows<T>({ rows, skipped, problem }: Collected<T>): T[] {
    this.#skipped += skipped
    if (skipped > 0 && performance.now() >= this.#mutedUntil) {
      this.#mutedUntil = performance.now() + this.#limits.errorEveryMs
      this.#report(
        `ledger ${this.#file}: ${skipped} invalid rows were skipped, the first because of ${problem}`,
      )
    }
    return rows
  }

  #report(problem: string): void {
    try {
      this.#options.onError?.(new LedgerError(problem))
    } catch {
      // An error in the listener must not fail a query.
    }
  }
}
