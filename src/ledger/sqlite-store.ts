/** The ledger's file: how it is opened, kept to one process, written and read. Used in the thread only. */
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../lib/errors.ts'
import type { GrowthLimits } from './growth.ts'
import type { LedgerRow, RecentQuery, WarmQuery, WarmRow } from './ledger.ts'
import type { MetricsEntry, MetricsKey, MetricsRow } from './metrics.ts'
import type { Found } from './query.ts'
import type { Snapshot } from './snapshots.ts'
import { isDamage, isOurs, notADatabase, setAside } from './sqlite-aside.ts'
import { growth } from './sqlite-growth.ts'
import { jobsTable } from './sqlite-jobs.ts'
import { migrate } from './sqlite-layout.ts'
import { metricsTable } from './sqlite-metrics.ts'
import { snapshotsTable } from './sqlite-snapshots.ts'
import { explain } from './sqlite-trouble.ts'

export interface Store {
  /** All rows in one transaction that is on the disk when this returns; or throws, and none is. */
  write(rows: LedgerRow[]): void
  /** Likewise; each entry finds what those before it left. */
  writeMetrics(entries: MetricsEntry[]): void
  writeSnapshots(snapshots: Snapshot[]): void
  metricsFor(key: MetricsKey): MetricsRow | undefined
  recent(query: RecentQuery): Found<LedgerRow>
  warm(query: WarmQuery): Found<WarmRow>
  snapshots(workload: string): Found<Snapshot>
  count(): number
  /** Forgets a few rows that are no longer needed. False: there is nothing left to do until more is written. */
  tidy(): boolean
  /** Tells this file from another of the same name. */
  readonly inode: number
  /** Moves the log into the file and lets go of both. */
  close(): void
}

export interface StoreOptions {
  file: string
  /** How long to wait for others to let go of it. */
  busyMs: number
  growth: GrowthLimits
  /** Without it, a damaged file is refused; with it, moved aside if it is ours, and this is told in words. */
  onSetAside?: ((message: string) => void) | undefined
  /** This file turned out to be damaged while it was in use. */
  damaged?: { inode: number; error: unknown } | undefined
}

/** Throws and holds nothing if the file cannot be used. */
export function openStore(options: StoreOptions): Store {
  const { file, busyMs, damaged } = options
  mkdirSync(dirname(file), { recursive: true })
  if (existsSync(file) && !statSync(file).isFile()) {
    const what = statSync(file).isDirectory() ? 'a folder is in its place' : 'it is not a regular file'
    throw new LedgerError(`ledger ${file}: ${what}. Move it away, or name another file`)
  }
  const lock = holdLock(file, busyMs)
  const mayMove = options.onSetAside && isOurs(file)
  const move = (error: unknown) => options.onSetAside?.(setAside(file, error))
  try {
    const stillThere = damaged && statSync(file, { throwIfNoEntry: false })?.ino === damaged.inode
    if (mayMove && stillThere) move(damaged.error)
    try {
      probe(file, busyMs)
      return openFile(options, lock)
    } catch (error) {
      // What it says of tables and columns is damage too: the file's version promises them.
      const isWrong = isDamage(error) || (error as { errcode?: number }).errcode === 1
      if (!mayMove || !isWrong) throw error
      move(error)
      return openFile(options, lock)
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * One process writes a ledger. The lock is a transaction on an empty file beside it: the system ends it with the
 * process, however that ends, and other programs may still read the ledger itself.
 */
function holdLock(file: string, busyMs: number): DatabaseSync {
  const lockFile = `${existsSync(file) ? realpathSync(file) : file}-lock`
  const lock = new DatabaseSync(lockFile, { timeout: busyMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw explain(error, file, lockFile)
  }
}

/** Throws what SQLite says of a damaged file. Does not write: to close a file that was opened for that changes it. */
function probe(file: string, busyMs: number): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes === 0) return
  // SQLite takes a file that is too short for a new one, and would write over it.
  if (bytes < 512) throw Object.assign(new Error(`it has only ${bytes} bytes`), { errcode: notADatabase })
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

function openFile({ file, busyMs, growth: limits }: StoreOptions, lock: DatabaseSync): Store {
  const db = new DatabaseSync(file, { timeout: busyMs })
  try {
    migrate(db, file)
    return storeOf(db, file, limits, () => {
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

function storeOf(db: DatabaseSync, file: string, limits: GrowthLimits, close: () => void): Store {
  const jobs = jobsTable(db)
  const metrics = metricsTable(db)
  const snapshots = snapshotsTable(db)
  const growing = growth(db, jobs, transaction, limits)
  const path = realpathSync(file)
  const identity = (): string =>
    [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.ino ?? 'none').join()
  const opened = identity()

  function transaction(write: () => void): void {
    db.exec('BEGIN IMMEDIATE')
    write()
    db.exec('COMMIT')
    // Writing to a deleted file succeeds, and keeps nothing.
    if (identity() !== opened) {
      throw new LedgerError(
        `ledger ${file}: the file or its -wal file was removed or replaced while it was in use. ` +
          'A new file is begun if there is none; stop Plimsoll before you move its files',
      )
    }
  }

  return {
    write(rows) {
      transaction(() => {
        for (const row of rows) jobs.write(row)
      })
      growing.wrote(rows)
    },
    writeMetrics(entries) {
      transaction(() => {
        for (const entry of entries) metrics.write(entry)
      })
      growing.wroteMetrics(entries.length)
    },
    writeSnapshots: (all) =>
      transaction(() => {
        for (const each of all) snapshots.write(each, Date.now())
      }),
    metricsFor: metrics.read,
    recent: (query) => jobs.recent(query, Date.now()),
    warm: (query) => jobs.warm(query, 1 + limits.olderVersions, Date.now()),
    snapshots: (workload) => snapshots.read(workload, Date.now()),
    count: jobs.count,
    tidy: () => growing.step(Date.now()),
    inode: statSync(path).ino,
    close,
  }
}
