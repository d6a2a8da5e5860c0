/** Opens, locks, writes and reads the ledger's file. Used only in the ledger's thread. */
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../../lib/errors.ts'
import { makePrivateFile, privateFolder } from '../../lib/private-files.ts'
import { isDamage, notADatabase } from '../../lib/sqlite/errors.ts'
import type { Collected } from '../collect.ts'
import type { LedgerRow, RecentQuery, WarmQuery, WarmRow } from '../ledger.ts'
import type { MetricsEntry, MetricsKey, MetricsRow } from '../metrics.ts'
import type { RetentionLimits } from '../retention.ts'
import type { Snapshot } from '../snapshots.ts'
import { explainError } from './explain-error.ts'
import { jobsTable } from './jobs-table.ts'
import { metricsTable } from './metrics-table.ts'
import { Pruner } from './prune.ts'
import { hasDefaultName, quarantine } from './quarantine.ts'
import { migrate } from './schema.ts'
import { snapshotsTable } from './snapshots-table.ts'

export interface Store {
  /** Writes all rows in one transaction, durably, or throws and writes none. */
  write(rows: LedgerRow[]): void
  /** Like `write`; applies the entries in order. */
  writeMetrics(entries: MetricsEntry[]): void
  writeSnapshots(snapshots: Snapshot[]): void
  metricsFor(key: MetricsKey): MetricsRow | undefined
  recentMetrics(query: RecentQuery): MetricsRow[]
  recent(query: RecentQuery): Collected<LedgerRow>
  warm(query: WarmQuery): Collected<WarmRow>
  snapshots(workload: string): Collected<Snapshot>
  count(): number
  /** Deletes a few rows that are no longer needed. Returns false when nothing is left to delete. */
  prune(): boolean
  /** Distinguishes this file from a later file of the same name. */
  readonly inode: number
  /** Merges the log into the file and closes it. */
  close(): void
}

export interface StoreOptions {
  file: string
  /** How long to wait while another process locks the file. */
  busyMs: number
  retention: RetentionLimits
  /** Called after a damaged file was renamed. If missing, a damaged file is an error. */
  onQuarantine?: ((message: string) => void) | undefined
  /** A file that was found damaged while it was in use. */
  damaged?: { inode: number; error: unknown } | undefined
}

/** Throws, and keeps no lock, if the file cannot be used. */
export function openStore(options: StoreOptions): Store {
  const { file, busyMs, damaged } = options
  mkdirSync(dirname(file), { recursive: true, mode: privateFolder })
  if (existsSync(file) && !statSync(file).isFile()) {
    const problem = statSync(file).isDirectory() ? 'the path is a folder' : 'the path is not a regular file'
    throw new LedgerError(`ledger ${file}: ${problem}. Move it away, or choose another file`)
  }
  const lock = acquireLock(file, busyMs)
  const mayRename = options.onQuarantine && hasDefaultName(file)
  const rename = (error: unknown) => options.onQuarantine?.(quarantine(file, error))
  try {
    const stillThere = damaged && statSync(file, { throwIfNoEntry: false })?.ino === damaged.inode
    if (mayRename && stillThere) rename(damaged.error)
    try {
      probe(file, busyMs)
      return openFile(options, lock)
    } catch (error) {
      // A missing table or column (error code 1) is damage too, because the file's schema version guarantees it.
      const isDamaged = isDamage(error) || (error as { errcode?: number }).errcode === 1
      if (!mayRename || !isDamaged) throw error
      rename(error)
      return openFile(options, lock)
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Only one process may write a ledger. The lock is a transaction on a separate empty file: the operating system releases
 * it when the process ends, and other programs can still read the ledger.
 */
function acquireLock(file: string, busyMs: number): DatabaseSync {
  const lockFile = `${existsSync(file) ? realpathSync(file) : file}-lock`
  makePrivateFile(lockFile)
  const lock = new DatabaseSync(lockFile, { timeout: busyMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw explainError(error, file, lockFile)
  }
}

/** Throws SQLite's error if the file is damaged. Opens it read-only, because closing a writable file changes it. */
function probe(file: string, busyMs: number): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes === 0) return
  // SQLite treats a file that is too short as a new one, and would overwrite it.
  if (bytes < 512) throw Object.assign(new Error(`only ${bytes} bytes`), { errcode: notADatabase })
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: busyMs })
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
  } catch (error) {
    if (isDamage(error)) throw error
  } finally {
    db?.close()
  }
}

function openFile({ file, busyMs, retention }: StoreOptions, lock: DatabaseSync): Store {
  // SQLite gives its -wal and -shm files the same mode.
  makePrivateFile(file)
  const db = new DatabaseSync(file, { timeout: busyMs })
  try {
    migrate(db, file)
    return storeOf(db, file, retention, () => {
      try {
        db.close()
      } finally {
        lock.close()
      }
    })
  } catch (error) {
    db.close()
    throw error
  }
}

function storeOf(db: DatabaseSync, file: string, limits: RetentionLimits, close: () => void): Store {
  const jobs = jobsTable(db)
  const metrics = metricsTable(db)
  const snapshots = snapshotsTable(db)
  const pruner = new Pruner(db, { jobs, transaction, limits })
  const path = realpathSync(file)
  const identity = (): string =>
    [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.ino ?? 'none').join()
  const opened = identity()

  function transaction(write: () => void): void {
    db.exec('BEGIN IMMEDIATE')
    write()
    db.exec('COMMIT')
    // Writing to a deleted file succeeds, but the rows are lost.
    if (identity() !== opened) {
      throw new LedgerError(
        `ledger ${file}: the file or its -wal file was removed or replaced while it was in use. ` +
          'A missing file is created again. Stop Plimsoll before you move its files',
      )
    }
  }

  return {
    write(rows) {
      transaction(() => {
        for (const row of rows) jobs.write(row)
      })
      pruner.rowsWritten(rows)
    },
    writeMetrics(entries) {
      transaction(() => {
        for (const entry of entries) metrics.write(entry)
      })
      pruner.metricsWritten(entries.length)
    },
    writeSnapshots: (all) =>
      transaction(() => {
        for (const each of all) snapshots.write(each, Date.now())
      }),
    metricsFor: metrics.read,
    recentMetrics: metrics.recent,
    recent: (query) => jobs.recent(query, Date.now()),
    warm: (query) => jobs.warm(query, 1 + limits.olderVersions, Date.now()),
    snapshots: (workload) => snapshots.read(workload, Date.now()),
    count: jobs.count,
    prune: () => pruner.step(Date.now()),
    inode: statSync(path).ino,
    close,
  }
}
