/** The SQL of writes. Each is one statement, and so one transaction; its first parameter is the epoch of the leader. */
import { type AcceptedRow, rowBytesSql } from '../rows.ts'

/**
 * Rows are written only if their leader is the last one. The lock makes a new leader wait for writes that have begun, and
 * writes that waited for a new leader read its epoch: none of the old leader's is committed after the new one has begun.
 *
 * A server, database or user may be set to commit without waiting for the disk; a job must not. Stronger settings stay.
 */
const fence = `fence AS MATERIALIZED (
  SELECT epoch, CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) END AS waits
  FROM plimsoll.leader WHERE epoch = $1 FOR SHARE)`

const isLeading = 'EXISTS (SELECT FROM fence) AS leads'

const acceptedTypes: Readonly<Record<keyof AcceptedRow, string>> = {
  ...{ id: 'text', workload: 'text', client: 'text', accepted_at: 'float8', quote: 'text', method: 'text' },
  ...{ target: 'text', fields: 'text', body_bytes: 'int8', is_repeatable: 'int4', idempotency_key: 'text' },
  ...{ fingerprint: 'text', webhook_url: 'text', webhook_state: 'text' },
}

/** Where a small content lies in the second parameter, which joins those of all rows; and the number of a large one. */
const contentTypes = 'at int4, length int4, content int8'
const content = 'CASE WHEN length > 0 THEN substring($2::bytea FROM at + 1 FOR length) END'

/** `$3`: the rows, as JSON. */
const rowsOf = (types: string) => `json_to_recordset($3::json) AS rows (${types})`

const acceptedColumns = Object.keys(acceptedTypes).join(', ')

export const acceptRows = `WITH ${fence}, added AS (
    INSERT INTO plimsoll.jobs (${acceptedColumns}, body, body_chunks)
    SELECT ${acceptedColumns}, ${content}, content
    FROM fence CROSS JOIN ${rowsOf(`${Object.entries(acceptedTypes).map((each) => each.join(' '))}, ${contentTypes}`)}
    ON CONFLICT DO NOTHING RETURNING id)
  SELECT ${isLeading}, ARRAY(SELECT id FROM added) AS ids`

export const endRows = `WITH ${fence}, ended AS (
    UPDATE plimsoll.jobs SET state = rows.state, ended_at = rows.ended_at, status = rows.status,
      answer_fields = rows.answer_fields, result_bytes = rows.result_bytes, facts = rows.facts,
      result_kept = (rows.result_bytes IS NOT NULL)::int, kept_bytes = body_bytes + coalesce(rows.result_bytes, 0),
      row_bytes = ${rowBytesSql('jobs.', 'rows.')},
      webhook_due = CASE WHEN webhook_url IS NOT NULL THEN rows.ended_at END,
      result = ${content}, result_chunks = content
    FROM fence CROSS JOIN ${rowsOf(
      `id text, state text, ended_at float8, status int4, answer_fields text, result_bytes int8, facts text, ${contentTypes}`,
    )}
    WHERE jobs.id = rows.id AND jobs.state = 'open' RETURNING jobs.id)
  SELECT ${isLeading}, ARRAY(SELECT id FROM ended) AS ids`

/** `$2`: the rows, as JSON. */
const notes = (types: string) => `json_to_recordset($2::json) AS rows (${types})`

export const startRows = `WITH ${fence}, noted AS (
    UPDATE plimsoll.jobs SET started_at = rows.started_at
    FROM fence CROSS JOIN ${notes('id text, started_at float8')} WHERE jobs.id = rows.id)
  SELECT ${isLeading}`

export const webhookRows = `WITH ${fence}, noted AS (
    UPDATE plimsoll.jobs SET webhook_url = rows.url, webhook_state = rows.state, webhook_tries = rows.tries,
      webhook_due = rows.due, webhook_problem = rows.problem
    FROM fence CROSS JOIN ${notes('id text, url text, state text, tries int4, due float8, problem text')}
    WHERE jobs.id = rows.id)
  SELECT ${isLeading}`

/**
 * Adds `$3` (the number of the chunk) and `$4` to the content `$2`, or to a new one. It need not wait for the disk: the
 * commit of its job comes later in the same log, and waits for both.
 */
export const addChunk = `WITH fence AS MATERIALIZED (
    SELECT epoch, set_config('synchronous_commit', 'off', true) FROM plimsoll.leader WHERE epoch = $1 FOR SHARE)
  INSERT INTO plimsoll.chunks (content, number, epoch, bytes)
  SELECT coalesce($2::int8, nextval('plimsoll.contents')), $3, epoch, $4::bytea FROM fence RETURNING content`

export const dropContent = `WITH ${fence}
  DELETE FROM plimsoll.chunks WHERE content = $2 AND EXISTS (SELECT FROM fence)`

/** Contents that earlier leaders wrote for jobs that were then not accepted or answered. */
export const dropAbandoned = `WITH ${fence}
  DELETE FROM plimsoll.chunks WHERE epoch < $1 AND EXISTS (SELECT FROM fence)
    AND NOT EXISTS (SELECT FROM plimsoll.jobs WHERE body_chunks = content)
    AND NOT EXISTS (SELECT FROM plimsoll.jobs WHERE result_chunks = content)`

/** Removes the `$4` oldest results that are not newer than `$2` and, of the same time, `$3`. */
export const removeResults = `WITH ${fence}, old AS MATERIALIZED (
    SELECT seq, result_kept, body_chunks, result_chunks FROM plimsoll.jobs
    WHERE kept_bytes IS NOT NULL AND (ended_at, seq) <= ($2::float8, $3::int8) AND EXISTS (SELECT FROM fence)
    ORDER BY ended_at, seq LIMIT $4),
  contents AS (
    DELETE FROM plimsoll.chunks
    WHERE content = ANY (ARRAY(SELECT unnest(ARRAY[body_chunks, result_chunks]) FROM old))),
  removed AS (
    UPDATE plimsoll.jobs SET kept_bytes = NULL, result_kept = 0, answer_fields = NULL, body = NULL, result = NULL,
      body_chunks = NULL, result_chunks = NULL
    FROM old WHERE jobs.seq = old.seq RETURNING old.result_kept)
  SELECT ${isLeading}, count(*)::int AS jobs, coalesce(sum(result_kept), 0)::int AS results FROM removed`

/**
 * Forgets `$5` jobs that ended before `$2`, unless their webhooks wait and are tried again; and those up to the time `$3` and, of the
 * same time, `$4`.
 */
export const forgetJobs = `WITH ${fence}, forgotten AS (
    DELETE FROM plimsoll.jobs WHERE seq IN (SELECT seq FROM plimsoll.jobs
      WHERE ended_at <= greatest($2::float8, $3::float8) AND kept_bytes IS NULL
        AND (ended_at < $2::float8 AND webhook_state IS DISTINCT FROM 'waiting'
          OR (ended_at, seq) <= ($3::float8, $4::int8))
        AND EXISTS (SELECT FROM fence) ORDER BY ended_at, seq LIMIT $5) RETURNING 1)
  SELECT ${isLeading}, count(*)::int AS jobs FROM forgotten`

/** The first one stays. */
export const addSecret = "INSERT INTO plimsoll.secrets VALUES ('webhook', $1) ON CONFLICT DO NOTHING"
