/** The tables of the file `jobs.db`, and the migrations from older versions. */
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../lib/errors.ts'

/**
 * Each migration leads from the version of its index to the next one. A released migration never changes. Contents lie in
 * a table of their own, so that a change of a job does not write its body again: the row number is that of the job times
 * two, plus one for results. `kept_bytes` counts body and result of a job that has ended, until they are removed;
 * `row_bytes` its row.
 */
const migrations = [
  `CREATE TABLE leader (
     one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL) STRICT;
   INSERT INTO leader VALUES (1, 0, '', 0);
   CREATE TABLE jobs (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workload TEXT NOT NULL, client TEXT NOT NULL,
     accepted_at REAL NOT NULL, quote TEXT, method TEXT NOT NULL, target TEXT NOT NULL, fields TEXT NOT NULL,
     body_bytes INTEGER NOT NULL, is_repeatable INTEGER NOT NULL, started_at REAL, idempotency_key TEXT, fingerprint TEXT, state TEXT NOT NULL DEFAULT 'open',
     ended_at REAL, status INTEGER, result_bytes INTEGER, result_kept INTEGER NOT NULL DEFAULT 0, facts TEXT,
     webhook_url TEXT, webhook_state TEXT, webhook_tries INTEGER NOT NULL DEFAULT 0, webhook_due REAL,
     webhook_problem TEXT, answer_fields TEXT, kept_bytes INTEGER) STRICT;
   CREATE UNIQUE INDEX jobs_by_key ON jobs (client, idempotency_key) WHERE idempotency_key IS NOT NULL;
   CREATE INDEX jobs_open ON jobs (seq) WHERE state = 'open';
   CREATE INDEX jobs_by_workload ON jobs (workload, seq);
   CREATE INDEX jobs_by_client ON jobs (client, seq);
   CREATE INDEX jobs_kept ON jobs (ended_at, seq, kept_bytes) WHERE kept_bytes IS NOT NULL;
   CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
   CREATE INDEX jobs_webhooks ON jobs (webhook_due, seq) WHERE webhook_state = 'waiting' AND webhook_due IS NOT NULL;
   CREATE TABLE contents (id INTEGER PRIMARY KEY, bytes BLOB, file TEXT) STRICT;
   CREATE INDEX contents_files ON contents (file) WHERE file IS NOT NULL;`,
  "CREATE INDEX jobs_disabled ON jobs (webhook_due) WHERE webhook_state = 'disabled';",
  `ALTER TABLE jobs ADD COLUMN row_bytes INTEGER;
   UPDATE jobs SET row_bytes = 500 + coalesce(octet_length(id), 0) + coalesce(octet_length(workload), 0)
     + coalesce(octet_length(client), 0) + coalesce(octet_length(quote), 0)
     + coalesce(octet_length(method), 0) + coalesce(octet_length(target), 0)
     + coalesce(octet_length(fields), 0) + coalesce(octet_length(idempotency_key), 0)
     + coalesce(octet_length(fingerprint), 0) + coalesce(octet_length(webhook_url), 0)
     + coalesce(octet_length(facts), 0) + coalesce(octet_length(answer_fields), 0)
   WHERE ended_at IS NOT NULL;
   DROP INDEX jobs_ended;
   CREATE INDEX jobs_ended ON jobs (ended_at, seq, row_bytes) WHERE ended_at IS NOT NULL;`,
]

export function migrate(db: DatabaseSync, store: string): void {
  const version = Number(db.prepare('PRAGMA user_version').get()!.user_version)
  if (version > migrations.length) {
    throw new StoreError(
      `${store}: its file has schema version ${version}; this Plimsoll supports versions up to ` +
        `${migrations.length}. Use the newer Plimsoll that wrote it, or choose another folder`,
    )
  }
  if (version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get()) {
    throw new StoreError(
      `${store}: its file jobs.db is another application's database. Choose another folder`,
    )
  }
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4096')
  if (version < migrations.length) {
    db.exec(
      `BEGIN IMMEDIATE; ${migrations.slice(version).join('')} PRAGMA user_version = ${migrations.length}; COMMIT`,
    )
  }
}
