/** A ledger in one SQLite file, written by a thread of its own, so that nobody waits for the disk. */
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LedgerError } from '../lib/errors.ts'
import { type GrowthLimits, growthLimits } from './growth.ts'
import { type Ledger, type LedgerRow, usualWarm } from './ledger.ts'
import { copyMetrics, type MetricsEntry } from './metrics.ts'
import { checkLimit, type Found } from './query.ts'
import { copyRow } from './row.ts'
import { copySnapshot, type SnapshotEntry } from './snapshots.ts'
import { type LedgerThread, startThread } from './sqlite-calls.ts'
import { Writer, type WriterLimits, writerLimits } from './writer.ts'

export interface SqliteLedgerOptions {
  /** Its folder is made if there is none. Only one process at a time may have it open. */
  file: string
  /**
   * Rows could not be written; they are kept and tried again, the oldest dropped when there are too many. Or a
   * row was malformed, or was found in the file and cannot be true. Called at most once every few seconds for each
   * of these, and whatever it does harms nobody. Also called when a damaged file was moved aside.
   */
  onTrouble?: (error: LedgerError) => void
  limits?: Partial<SqliteLedgerLimits>
  growth?: Partial<GrowthLimits>
}

export interface SqliteLedgerLimits extends WriterLimits {
  /** The thread waits this long for another process to let go of the file, before that is trouble. */
  busyMs: number
  /** After opening, and between two steps of forgetting: others come first. */
  tidyAfterMs: number
  tidyEveryMs: number
}

const threadLimits = { busyMs: 1_000, tidyAfterMs: 2_000, tidyEveryMs: 20 }

/**
 * Resolves when the file is open and can be written. A damaged `ledger.db` is moved aside, and a new one is begun;
 * a file of another name is only used if it is a ledger, or if there is none. Rejects with LedgerError, and leaves
 * no thread behind.
 */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const file = resolve(options.file)
  const limits: SqliteLedgerLimits = { ...writerLimits, ...threadLimits, ...options.limits }
  let running: Promise<LedgerThread> | undefined
  let closing: Promise<void> | undefined
  let skipped = 0
  let quietUntil = -Infinity

  function report(problem: string): void {
    try {
      options.onTrouble?.(new LedgerError(problem))
    } catch {
      // Whoever listens to trouble must not cause more of it here.
    }
  }

  function readable<T>(found: Found<T>): T[] {
    skipped += found.skipped
    if (found.skipped > 0 && performance.now() >= quietUntil) {
      quietUntil = performance.now() + limits.troubleEveryMs
      report(
        `ledger ${file}: ${found.skipped} rows were passed over, because they cannot be true: ${found.why}`,
      )
    }
    return found.rows
  }

  /** The thread; a new one if the last is gone. */
  function thread(): Promise<LedgerThread> {
    if (running) return running
    const { busyMs, tidyAfterMs, tidyEveryMs } = limits
    const growth = { ...growthLimits, ...options.growth }
    const starting = startThread({ file, busyMs, tidyAfterMs, tidyEveryMs, growth }, report)
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

  const snapshotWriter = new Writer<SnapshotEntry>({
    ...shared,
    copy: copySnapshot,
    write: async (entries) => {
      const snapshots = entries.map((entry) => entry.row)
      await (await thread()).ask({ kind: 'write-snapshots', snapshots })
    },
  })
  const writers = [writer, metricsWriter, snapshotWriter]

  async function close(): Promise<void> {
    await Promise.all(writers.map((each) => each.close()))
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
    saveSnapshot: (row) => snapshotWriter.record({ parameters: '', row }),
    async snapshots(workload) {
      mustBeOpen()
      return readable(await (await thread()).ask({ kind: 'snapshots', workload }))
    },
    async metricsFor({ workload, codeHash, parameters }) {
      mustBeOpen()
      return (await thread()).ask({ kind: 'metrics', key: { workload, codeHash, parameters } })
    },
    async flush() {
      mustBeOpen()
      await Promise.all(writers.map((each) => each.flush()))
    },
    async recent(query) {
      mustBeOpen()
      checkLimit(query.limit)
      return readable(await (await thread()).ask({ kind: 'recent', query }))
    },
    async warm({ workload, limit = usualWarm }) {
      mustBeOpen()
      checkLimit(limit)
      return readable(await (await thread()).ask({ kind: 'warm', query: { workload, limit } }))
    },
    async counts() {
      mustBeOpen()
      const rows = await (await thread()).ask({ kind: 'count' })
      return { rows, dropped: writers.reduce((sum, each) => sum + each.dropped, 0), skipped }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
