/** The ledger's file: how it is opened, kept to one process, laid out, written and read. Used in the thread only. */
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../errors.ts'
import type { LedgerRow, RecentQuery } from './ledger.ts'
import type { MetricsEntry, MetricsKey, MetricsRow } from './metrics.ts'
import { fields } from './row.ts'
import { metricsTable } from './sqlite-metrics.ts'
import { explain } from './sqlite-trouble.ts'

/** Each step takes the layout from the version of its index to the next one. A released step never changes. */
const migrations = [
  `CREATE TABLE jobs (
     job TEXT NOT NULL UNIQUE, workload TEXT NOT NULL, codeHash TEXT NOT NULL, parameters TEXT NOT NULL,
     work REAL NOT NULL, cpuMs REAL NOT NULL, wallMs REAL NOT NULL, peakMemoryMb REAL NOT NULL,
     worker TEXT NOT NULL, attempts REAL NOT NULL, startedAt REAL NOT NULL, endedAt REAL NOT NULL,
     outcome TEXT NOT NULL) STRICT;
   CREATE INDEX jobsByCode ON jobs (workload, codeHash, endedAt);
   CREATE INDEX jobsByWorkload ON jobs (workload, endedAt);`,
  `CREATE TABLE metrics (
     workload TEXT NOT NULL, codeHash TEXT NOT NULL, parameters TEXT NOT NULL, work REAL NOT NULL,
     tally TEXT NOT NULL, running INTEGER NOT NULL, worker TEXT NOT NULL, attempt TEXT NOT NULL,
     at REAL NOT NULL, PRIMARY KEY (workload, codeHash, parameters)) STRICT;
   CREATE INDEX metricsByOwner ON metrics (worker, attempt) WHERE running = 1;`,
]

export interface Store {
  /** All rows in one transaction that is on the disk when this returns; or throws, and none is. */
  write(rows: LedgerRow[]): void
  /** Likewise; each entry finds what those before it left. */
  writeMetrics(entries: MetricsEntry[]): void
  metricsFor(key: MetricsKey): MetricsRow | undefined
  recent(query: RecentQuery): LedgerRow[]
  count(): number
  /** Moves the log into the file and lets go of both. */
  close(): void
}

/** Throws LedgerError and holds nothing if the file cannot be used. Waits `busyMs` for others to let go of it. */
export function openStore(file: string, busyMs: number): Store {
  const opened: DatabaseSync[] = []
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (existsSync(file) && !statSync(file).isFile()) {
      const what = statSync(file).isDirectory() ? 'a folder is in its place' : 'it is not a regular file'
      throw new LedgerError(`ledger ${file}: ${what}. Move it away, or name another file`)
    }
    opened.push(holdLock(file, busyMs))
    const db = new DatabaseSync(file, { timeout: busyMs })
    opened.unshift(db)
    migrate(db, file)
    return storeOf(db, file, () => {
      for (const each of opened) each.close()
    })
  } catch (error) {
    for (const each of opened) each.close()
    throw explain(error, file)
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

function migrate(db: DatabaseSync, file: string): void {
  const version = Number(db.prepare('PRAGMA user_version').get()!.user_version)
  if (version > migrations.length) {
    throw new LedgerError(
      `ledger ${file}: its layout has version ${version}, and this Plimsoll knows versions up to ` +
        `${migrations.length}. Use the newer Plimsoll that wrote it, or name another file`,
    )
  }
  if (version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get()) {
    throw new LedgerError(`ledger ${file}: it is a database of something else. Name another file`)
  }
  // Job ids are random, so a batch touches pages all over their index: the defaults of 2 MB and 4 MB churn.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4096')
  // Setting the version, even to what it is, writes: a file that cannot be written fails here.
  db.exec(
    `BEGIN IMMEDIATE; ${migrations.slice(version).join('')} PRAGMA user_version = ${migrations.length}; COMMIT`,
  )
}

function storeOf(db: DatabaseSync, file: string, close: () => void): Store {
  const columns = fields.join(', ')
  const places = fields.map(() => '?').join(', ')
  const insert = db.prepare(`INSERT OR REPLACE INTO jobs (${columns}) VALUES (${places})`)
  const newest = 'ORDER BY endedAt DESC, rowid DESC LIMIT :limit'
  const byWorkload = db.prepare(`SELECT ${columns} FROM jobs WHERE workload = :workload ${newest}`)
  const byCode = db.prepare(
    `SELECT ${columns} FROM jobs WHERE workload = :workload AND codeHash = :codeHash ${newest}`,
  )
  const metrics = metricsTable(db)
  const count = db.prepare('SELECT count(*) AS rows FROM jobs')
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
    write: (rows) =>
      transaction(() => {
        for (const row of rows) insert.run(...fields.map((field) => row[field]))
      }),
    writeMetrics: (entries) =>
      transaction(() => {
        for (const entry of entries) metrics.write(entry)
      }),
    metricsFor: metrics.read,
    recent({ workload, codeHash, limit }) {
      const rows =
        codeHash === undefined
          ? byWorkload.all({ workload, limit })
          : byCode.all({ workload, codeHash, limit })
      return rows as unknown as LedgerRow[]
    },
    count: () => Number(count.get()!.rows),
    close,
  }
}
