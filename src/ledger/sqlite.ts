/** A ledger in one SQLite file, written by a thread of its own, so that nobody waits for the disk. */
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LedgerError } from '../errors.ts'
import type { Ledger, LedgerRow } from './ledger.ts'
import { copyMetrics, type MetricsEntry } from './metrics.ts'
import { checkQuery, copyRow } from './row.ts'
import { type LedgerThread, startThread } from './sqlite-calls.ts'
import { Writer, type WriterLimits, writerLimits } from './writer.ts'

export interface SqliteLedgerOptions {
  /** Its folder is made if there is none. Only one process at a time may have it open. */
  file: string
  /**
   * Rows could not be written; they are kept and tried again, the oldest dropped when there are too many. Or a
   * row was malformed. Called at most once every few seconds, and whatever it does harms nobody.
   */
  onTrouble?: (error: LedgerError) => void
  limits?: Partial<SqliteLedgerLimits>
}

export interface SqliteLedgerLimits extends WriterLimits {
  /** The thread waits this long for another process to let go of the file, before that is trouble. */
  busyMs: number
}

/** Resolves when the file is open and can be written. Rejects with LedgerError, and leaves no thread behind. */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const file = resolve(options.file)
  const limits: SqliteLedgerLimits = { ...writerLimits, busyMs: 1_000, ...options.limits }
  let running: Promise<LedgerThread> | undefined
  let closing: Promise<void> | undefined

  /** The thread; a new one if the last is gone. */
  function thread(): Promise<LedgerThread> {
    if (running) return running
    const starting = startThread({ file, busyMs: limits.busyMs })
    const forget = () => {
      running = undefined
    }
    starting.then(({ ended }) => ended.then(forget), forget)
    running = starting
    return starting
  }

  function mustBeOpen(): void {
    if (closing) throw new LedgerError(`ledger ${file}: it is closed. Open it again`)
  }

  const shared = { name: `ledger ${file}`, onTrouble: options.onTrouble ?? (() => {}), limits }
  const writer = new Writer<LedgerRow>({
    ...shared,
    copy: copyRow,
    write: async (rows) => (await thread()).ask({ kind: 'write', rows }),
  })
  const metricsWriter = new Writer<MetricsEntry>({
    ...shared,
    copy: copyMetrics,
    write: async (entries) => (await thread()).ask({ kind: 'write-metrics', entries }),
  })

  async function close(): Promise<void> {
    await Promise.all([writer.close(), metricsWriter.close()])
    const last = await running?.catch(() => undefined)
    if (!last) return
    const closed = last.ask({ kind: 'close' }).catch(() => {})
    await Promise.race([closed, delay(limits.flushMs, undefined, { ref: false })])
    await last.end()
  }

  await thread()
  return {
    record: (row) => writer.record(row),
    recordMetrics: (row) => metricsWriter.record({ parameters: row?.parameters ?? '', row }),
    metricsOwnerGone: (gone) => metricsWriter.record({ parameters: '', gone }),
    async metricsFor({ workload, codeHash, parameters }) {
      mustBeOpen()
      return (await thread()).ask({ kind: 'metrics', key: { workload, codeHash, parameters } })
    },
    async flush() {
      mustBeOpen()
      await Promise.all([writer.flush(), metricsWriter.flush()])
    },
    async recent(query) {
      mustBeOpen()
      checkQuery(query)
      return (await thread()).ask({ kind: 'recent', query })
    },
    async counts() {
      mustBeOpen()
      const rows = await (await thread()).ask({ kind: 'count' })
      return { rows, dropped: writer.dropped + metricsWriter.dropped }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
