/** Reads jobs and pages. */
import { excessOf, filterOf, laterOf, noPosition, type Position, type Removal } from '../queries.ts'
import { type JobRow, jobColumns } from '../rows.ts'
import type { JobQuery, Retention } from '../store.ts'
import type { Found } from './contents.ts'
import type { Database, Query, Value } from './database.ts'

export const columns = `seq, ${jobColumns.join(', ')}`
const openPage = 500

export function readsOf({ read }: Database) {
  const rows = (condition: string, values: readonly Value[]) =>
    read<JobRow>(`SELECT ${columns} FROM plimsoll.jobs WHERE ${condition}`, values)
  return {
    job: async (id: string) => (await rows('id = $1', [id]))[0],
    byKey: async (client: string, key: string) =>
      (await rows('client = $1 AND idempotency_key = $2', [client, key]))[0],

    async body(id: string): Promise<Found | undefined> {
      const found = await read<Found>(
        `SELECT body AS bytes, body_chunks AS chunks, body_bytes AS length FROM plimsoll.jobs
         WHERE id = $1 AND (state = 'open' OR kept_bytes IS NOT NULL)`,
        [id],
      )
      return found[0]
    },

    async result(id: string): Promise<(Found & { status: number; fields: string }) | undefined> {
      const found = await read<Found & { status: number; fields: string }>(
        `SELECT result AS bytes, result_chunks AS chunks, result_bytes AS length, status, answer_fields AS fields
         FROM plimsoll.jobs WHERE id = $1 AND result_kept = 1`,
        [id],
      )
      return found[0]
    },

    list(query: JobQuery, before: number | undefined): Promise<JobRow[]> {
      const { text, values } = filterOf(query, before, (n) => `$${n}`)
      // One more than asked for tells whether a page follows.
      return rows(`${text} ORDER BY seq DESC LIMIT ${query.limit + 1}`, values)
    },

    open: (after: number) => rows(`state = 'open' AND seq > $1 ORDER BY seq LIMIT ${openPage}`, [after]),

    webhooks: (limit: number) =>
      rows("webhook_state = 'waiting' AND webhook_due IS NOT NULL ORDER BY webhook_due, seq LIMIT $1", [
        limit,
      ]),

    async oldestToRemove(now: number, retention: Retention): Promise<Removal> {
      const jobs = await oldestJobs(read, retention)
      return { jobs, results: laterOf(jobs, await oldestResults(read, now, retention)) }
    },

    /** The jobs with one of these ids, or with one of these keys of their clients. */
    standing: (ids: readonly string[], clients: readonly string[], keys: readonly string[]) =>
      read<JobRow>(
        `SELECT ${columns} FROM plimsoll.jobs WHERE id = ANY ($1)
         UNION SELECT ${columns} FROM plimsoll.jobs
         WHERE (client, idempotency_key) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
        [ids, clients, keys],
      ),
  }
}

/** The later one of the limits of age and space. */
async function oldestResults(read: Query, now: number, { keepMs, keepBytes }: Retention): Promise<Position> {
  const byAge = { endedAt: now - keepMs, seq: 0 }
  const [bySpace] = await read<Position>(
    `SELECT ended_at AS "endedAt", seq FROM (
       SELECT ended_at, seq, sum(kept_bytes) OVER (ORDER BY ended_at DESC, seq DESC) AS bytes
       FROM plimsoll.jobs WHERE kept_bytes IS NOT NULL AND ended_at >= $1::float8) AS kept
     WHERE bytes > $2::float8 ORDER BY ended_at DESC, seq DESC LIMIT 1`,
    [byAge.endedAt, keepBytes],
  )
  return bySpace ?? byAge
}

async function oldestJobs(read: Query, retention: Retention): Promise<Position> {
  const [ended] = await read<{ jobs: number; bytes: number }>(
    `SELECT count(*)::float8 AS jobs, coalesce(sum(row_bytes), 0)::float8 AS bytes
     FROM plimsoll.jobs WHERE ended_at IS NOT NULL`,
  )
  const excess = excessOf(ended!, retention)
  if (!excess) return noPosition
  const [last] = await read<Position>(
    `SELECT ended_at AS "endedAt", seq FROM (
       SELECT ended_at, seq, row_number() OVER oldest AS jobs, sum(row_bytes) OVER oldest AS bytes
       FROM plimsoll.jobs WHERE ended_at IS NOT NULL
       WINDOW oldest AS (ORDER BY ended_at, seq ROWS UNBOUNDED PRECEDING)) AS ended
     WHERE jobs >= $1::float8 AND bytes >= $2::float8 ORDER BY ended_at, seq LIMIT 1`,
    [excess.jobs, excess.bytes],
  )
  return last ?? noPosition
}

export type Reads = ReturnType<typeof readsOf>

export async function disabledWebhooks({ read }: Database, now: number): Promise<Map<string, number>> {
  const urls = await read<{ url: string; until: number }>(
    `SELECT webhook_url AS url, max(webhook_due) AS until FROM plimsoll.jobs
     WHERE webhook_state = 'disabled' AND webhook_due > $1::float8 GROUP BY webhook_url`,
    [now],
  )
  return new Map(urls.map(({ url, until }) => [url, until]))
}

export async function secretOf({ read }: Database): Promise<string | undefined> {
  const [row] = await read<{ secret: string }>("SELECT secret FROM plimsoll.secrets WHERE name = 'webhook'")
  return row?.secret
}
