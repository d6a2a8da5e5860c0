/** The tables of the ledger's file, and the migrations from older versions. */
import type { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../../lib/errors.ts'

/**
 * Each migration leads from the version of its index to the next one. A released migration never changes. Its duration
 * must not depend on the number of rows, because start-up waits for it. That is why `traits`, `measures` and `amounts`
 * are tables: adding a column to a strict table checks every row. Their rows have the row number of their job, so that
 * rows of jobs that ended together are stored together, and the job's id, because VACUUM may change row numbers. Jobs
 * without a row in `measures` were measured by the meter. `amounts` holds the summands of a job's work.
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
      `ledger ${file}: the file has schema version ${version}; this Plimsoll supports versions up to ` +
        `${migrations.length}. Use the newer Plimsoll that wrote it, or choose another file`,
    )
  }
  if (version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get()) {
    throw new LedgerError(`ledger ${file}: the file is another application's database. Choose another file`)
  }
  // Job ids are random, so a batch touches pages all over their index: the defaults of 2 MB and 4 MB are too small.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4096')
  // Setting the version always writes, even if it does not change, so a read-only file fails here.
  db.exec(
    `BEGIN IMMEDIATE; ${migrations.slice(version).join('')} PRAGMA user_version = ${migrations.length}; COMMIT`,
  )
}
