/** A ledger in one SQLite file, written by a thread of its own, so that nobody waits for the disk. */
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LedgerError } from '../errors.ts'
import type { Ledger } from './ledger.ts'
import { checkQuery } from './row.ts'
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

  const writer = new Writer({
    name: `ledger ${file}`,
    write: async (rows) => (await thread()).ask({ kind: 'write', rows }),
    onTrouble: options.onTrouble ?? (() => {}),
    limits,
  })

  async function close(): Promise<void> {
    await writer.close()
    const last = await running?.catch(() => undefined)
    if (!last) return
    const closed = last.ask({ kind: 'close' }).catch(() => {})
    await Promise.race([closed, delay(limits.flushMs, undefined, { ref: false })])
    await last.end()
  }

  await thread()
  return {
    record: (row) => writer.record(row),
    async flush() {
      mustBeOpen()
      await writer.flush()
    },
    async recent(query) {
      mustBeOpen()
      checkQuery(query)
      return (await thread()).ask({ kind: 'recent', query })
    },
    async counts() {
      mustBeOpen()
      const rows = await (await thread()).ask({ kind: 'count' })
      return { rows, dropped: writer.dropped }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
