/** The tables in the schema `plimsoll`, and the migrations from older versions. */
import { StoreError } from '../../lib/errors.ts'
import type { Database, Query } from './database.ts'

/**
 * Each migration leads from the version of its index to the next one. A released migration never changes.
 *
 * `leader` has one row, which every write locks and only a new leader changes; the lease is a table of its own, so that a
 * renewal never waits for writes. Small bodies and results are columns of `jobs`, large ones are rows of `chunks`.
 * `kept_bytes` counts body and result of a job that has ended, until they are removed; `row_bytes` its row.
 */
const migrations = [
  `CREATE TABLE plimsoll.leader (one int PRIMARY KEY CHECK (one = 1), epoch bigint NOT NULL);
   INSERT INTO plimsoll.leader VALUES (1, 0);
   CREATE TABLE plimsoll.lease (
     one int PRIMARY KEY CHECK (one = 1), epoch bigint NOT NULL, holder text NOT NULL, until timestamptz NOT NULL);
   INSERT INTO plimsoll.lease VALUES (1, 0, '', '-infinity');
   CREATE TABLE plimsoll.jobs (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, workload text NOT NULL,
     client text NOT NULL, accepted_at double precision NOT NULL, quote text, method text NOT NULL, target text NOT NULL,
     fields text NOT NULL, body_bytes bigint NOT NULL, is_repeatable int NOT NULL, started_at double precision,
     idempotency_key text, fingerprint text, state text NOT NULL DEFAULT 'open', ended_at double precision, status int,
     result_bytes bigint, result_kept int NOT NULL DEFAULT 0, facts text, webhook_url text, webhook_state text,
     webhook_tries int NOT NULL DEFAULT 0, webhook_due double precision, webhook_problem text, answer_fields text,
     kept_bytes bigint, body bytea, result bytea, body_chunks bigint, result_chunks bigint);
   ALTER TABLE plimsoll.jobs ALTER body SET STORAGE EXTERNAL, ALTER result SET STORAGE EXTERNAL;
   CREATE UNIQUE INDEX jobs_by_key ON plimsoll.jobs (client, idempotency_key) WHERE idempotency_key IS NOT NULL;
   CREATE INDEX jobs_open ON plimsoll.jobs (seq) WHERE state = 'open';
   CREATE INDEX jobs_by_workload ON plimsoll.jobs (workload, seq);
   CREATE INDEX jobs_by_client ON plimsoll.jobs (client, seq);
   CREATE INDEX jobs_kept ON plimsoll.jobs (ended_at, seq, kept_bytes) WHERE kept_bytes IS NOT NULL;
   CREATE INDEX jobs_ended ON plimsoll.jobs (ended_at) WHERE ended_at IS NOT NULL;
   CREATE INDEX jobs_webhooks ON plimsoll.jobs (webhook_due, seq)
     WHERE webhook_state = 'waiting' AND webhook_due IS NOT NULL;
   CREATE INDEX jobs_body_chunks ON plimsoll.jobs (body_chunks) WHERE body_chunks IS NOT NULL;
   CREATE INDEX jobs_result_chunks ON plimsoll.jobs (result_chunks) WHERE result_chunks IS NOT NULL;
   CREATE SEQUENCE plimsoll.contents;
   CREATE TABLE plimsoll.chunks (
     content bigint NOT NULL, number int NOT NULL, epoch bigint NOT NULL, bytes bytea NOT NULL,
     PRIMARY KEY (content, number));
   ALTER TABLE plimsoll.chunks ALTER bytes SET STORAGE EXTERNAL;`,
  `CREATE TABLE plimsoll.secrets (name text PRIMARY KEY, secret text NOT NULL);
   CREATE INDEX jobs_disabled ON plimsoll.jobs (webhook_due) WHERE webhook_state = 'disabled';`,
  `ALTER TABLE plimsoll.jobs ADD row_bytes bigint;
   UPDATE plimsoll.jobs SET row_bytes = 500 + coalesce(octet_length(id), 0) + coalesce(octet_length(workload), 0)
     + coalesce(octet_length(client), 0) + coalesce(octet_length(quote), 0)
     + coalesce(octet_length(method), 0) + coalesce(octet_length(target), 0)
     + coalesce(octet_length(fields), 0) + coalesce(octet_length(idempotency_key), 0)
     + coalesce(octet_length(fingerprint), 0) + coalesce(octet_length(webhook_url), 0)
     + coalesce(octet_length(facts), 0) + coalesce(octet_length(answer_fields), 0)
   WHERE ended_at IS NOT NULL;
   DROP INDEX plimsoll.jobs_ended;
   CREATE INDEX jobs_ended ON plimsoll.jobs (ended_at, seq, row_bytes) WHERE ended_at IS NOT NULL;`,
]

/** Held while tables are made or changed, so that two processes do not do it at once. It spells "plimsoll". */
const migrationLock = '0x706c696d736f6c6c'

/** Makes the tables, or brings them up to date. Needs no privilege to create if they are up to date. */
export async function migrate({ read, transaction, store }: Database): Promise<void> {
  await mustBeUsable(read, store)
  if ((await versionOf(read, store)) === migrations.length) return
  await transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [BigInt(migrationLock).toString()])
    const version = await versionOf(query, store)
    if (version === 0) {
      await query('CREATE SCHEMA IF NOT EXISTS plimsoll')
      await query('CREATE TABLE plimsoll.version (version int NOT NULL)')
      await query('INSERT INTO plimsoll.version VALUES (0)')
    }
    for (const statements of migrations.slice(version)) await query(statements)
    await query('UPDATE plimsoll.version SET version = $1', [migrations.length])
    return true
  })
}

async function mustBeUsable(query: Query, store: string): Promise<void> {
  const [server] = await query<{ version: number; encoding: string; isReplica: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS "isReplica"`,
  )
  const { version, encoding, isReplica } = server!
  if (version < 130_000)
    throw new StoreError(
      `${store}: the server has version ${Math.floor(version / 10_000)}; Plimsoll requires PostgreSQL 13`,
    )
  if (encoding !== 'UTF8')
    throw new StoreError(
      `${store}: the database has the encoding ${encoding}; create one with ENCODING 'UTF8'`,
    )
  if (isReplica)
    throw new StoreError(`${store}: the server is a replica, which is read-only. Name the primary server`)
}

/** 0: there are no tables yet. */
async function versionOf(query: Query, store: string): Promise<number> {
  const [found] = await query<{ isThere: boolean; others: number }>(
    `SELECT to_regclass('plimsoll.version') IS NOT NULL AS "isThere",
       (SELECT count(*)::int FROM pg_tables WHERE schemaname = 'plimsoll') AS others`,
  )
  const { isThere, others } = found!
  if (!isThere && others > 0)
    throw new StoreError(
      `${store}: its schema plimsoll belongs to another application. Name another database`,
    )
  if (!isThere) return 0
  const [row] = await query<{ version: number }>('SELECT version FROM plimsoll.version')
  const version = row?.version ?? 0
  if (version > migrations.length)
    throw new StoreError(
      `${store}: its schema has version ${version}; this Plimsoll supports versions up to ${migrations.length}. ` +
        'Use the newer Plimsoll that made it, or name another database',
    )
  return version
}
