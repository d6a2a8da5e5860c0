/** The tables of the ledger's file, and how a file of an older layout becomes one of this. */
import type { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../lib/errors.ts'

/**
 * Each step takes the layout from the version of its index to the next one. A released step never changes. A step
 * must not take longer for a file of many rows: everybody waits for it. That is why traits are no columns of jobs: a
 * new column of a strict table has every row of it checked. They have the row number of their job, so that those of
 * jobs that ended together lie together, and its name, because VACUUM may change row numbers. Measures likewise; those of
 * jobs that have none are the meter's. And amounts: what their work is the sum of.
 */
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
  `CREATE TABLE traits (
     id INTEGER PRIMARY KEY, job TEXT NOT NULL, features TEXT NOT NULL, key TEXT NOT NULL) STRICT;
   CREATE TABLE snapshots (
     workload TEXT NOT NULL, codeHash TEXT NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, json TEXT NOT NULL,
     PRIMARY KEY (workload, codeHash, name)) STRICT;`,
  `CREATE TABLE measures (id INTEGER PRIMARY KEY, job TEXT NOT NULL, measure TEXT NOT NULL) STRICT;`,
  `CREATE TABLE amounts (id INTEGER PRIMARY KEY, job TEXT NOT NULL, quantities TEXT NOT NULL) STRICT;`,
]

export function migrate(db: DatabaseSync, file: string): void {
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
