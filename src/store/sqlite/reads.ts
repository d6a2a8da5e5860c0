/** Reads jobs, contents and pages. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  endOfExcess,
  excessOf,
  filterOf,
  laterOf,
  noPosition,
  type Position,
  type Removal,
} from '../queries.ts'
import { type JobRow, jobColumns } from '../rows.ts'
import type { Retention } from '../store.ts'
import type { DisabledUrl, Found, Read, ResultOf } from './calls.ts'

export const openPage = 500

type Of<K extends Read['kind']> = Read & { kind: K }

export interface Reads {
  job(id: string): JobRow | undefined
  byKey(client: string, key: string): JobRow | undefined
  body(id: string): Found | undefined
  result(id: string): ResultOf<'result'>
  list(call: Of<'list'>): JobRow[]
  open(after: number): JobRow[]
  webhooks(limit: number): JobRow[]
  disabled(now: number): DisabledUrl[]
  oldestToRemove(call: Of<'oldest-to-remove'>): Removal
}

const columns = `seq, ${jobColumns.join(', ')}`

export function prepareReads(db: DatabaseSync): Reads {
  const byId = db.prepare(`SELECT ${columns} FROM jobs WHERE id = ?`)
  const byKey = db.prepare(`SELECT ${columns} FROM jobs WHERE client = ? AND idempotency_key = ?`)
  const open = db.prepare(
    `SELECT ${columns} FROM jobs WHERE state = 'open' AND seq > ? ORDER BY seq LIMIT ${openPage}`,
  )
  const webhooks = db.prepare(
    `SELECT ${columns} FROM jobs WHERE webhook_state = 'waiting' AND webhook_due IS NOT NULL
     ORDER BY webhook_due, seq LIMIT ?`,
  )
  const disabled = db.prepare(
    `SELECT webhook_url AS url, max(webhook_due) AS until FROM jobs
     WHERE webhook_state = 'disabled' AND webhook_due > ? GROUP BY webhook_url`,
  )
  const pages = new Map<string, StatementSync>()

  return {
    job: (id) => byId.get(id) as JobRow | undefined,
    byKey: (client, key) => byKey.get(client, key) as JobRow | undefined,
    ...prepareContents(db),
    list({ query, before }) {
      const { text, values } = filterOf(query, before, () => '?')
      const page =
        pages.get(text) ?? db.prepare(`SELECT ${columns} FROM jobs WHERE ${text} ORDER BY seq DESC LIMIT ?`)
      pages.set(text, page)
      // One more than asked for tells whether a page follows.
      return page.all(...values, query.limit + 1) as unknown as JobRow[]
    },
    open: (after) => open.all(after) as unknown as JobRow[],
    webhooks: (limit) => webhooks.all(limit) as unknown as JobRow[],
    disabled: (now) => disabled.all(now) as unknown as DisabledUrl[],
    oldestToRemove: prepareOldestToRemove(db),
  }
}

interface ContentRow {
  bytes: Uint8Array | null
  file: string | null
  length: number
  kept_bytes: number | null
  state: string
}

function prepareContents(db: DatabaseSync): Pick<Reads, 'body' | 'result'> {
  const body = db.prepare(
    `SELECT bytes, file, body_bytes AS length, kept_bytes, state
     FROM jobs LEFT JOIN contents ON contents.id = jobs.seq * 2 WHERE jobs.id = ?`,
  )
  const result = db.prepare(
    `SELECT bytes, file, result_bytes AS length, kept_bytes, state, jobs.status, jobs.answer_fields
     FROM jobs LEFT JOIN contents ON contents.id = jobs.seq * 2 + 1 WHERE jobs.id = ? AND result_kept = 1`,
  )
  return {
    body(id) {
      const row = body.get(id) as unknown as ContentRow | undefined
      return row && (row.state === 'open' || row.kept_bytes !== null) ? found(row) : undefined
    },
    result(id) {
      const row = result.get(id) as unknown as
        | (ContentRow & { status: number; answer_fields: string })
        | undefined
      return row && { ...found(row), status: row.status, fields: row.answer_fields }
    },
  }
}

function found({ bytes, file, length }: ContentRow): Found {
  return file === null ? { bytes: bytes ?? new Uint8Array() } : { file, length }
}

function prepareOldestToRemove(db: DatabaseSync): Reads['oldestToRemove'] {
  const resultsOf = prepareOldestResults(db)
  const jobsOf = prepareOldestJobs(db)
  return ({ now, retention }) => {
    const jobs = jobsOf(retention)
    return { jobs, results: laterOf(jobs, resultsOf(now, retention)) }
  }
}

type Sized = Position & { bytes: number }

/** The later one of the limits of age and space. */
function prepareOldestResults(db: DatabaseSync): (now: number, retention: Retention) => Position {
  const all = db.prepare(
    'SELECT total(kept_bytes) AS bytes FROM jobs WHERE kept_bytes IS NOT NULL AND ended_at >= ?',
  )
  const oldest = db.prepare(
    `SELECT ended_at AS endedAt, seq, kept_bytes AS bytes FROM jobs
     WHERE kept_bytes IS NOT NULL AND ended_at >= ? ORDER BY ended_at, seq`,
  )
  return (now, { keepMs, keepBytes }) => {
    const byAge = { endedAt: now - keepMs, seq: 0 }
    const bytes = Number(all.get(byAge.endedAt)!.bytes) - keepBytes
    if (bytes <= 0) return byAge
    return endOfExcess(oldest.iterate(byAge.endedAt) as unknown as Iterable<Sized>, { jobs: 0, bytes })
  }
}

function prepareOldestJobs(db: DatabaseSync): (retention: Retention) => Position {
  const all = db.prepare(
    'SELECT count(*) AS jobs, total(row_bytes) AS bytes FROM jobs WHERE ended_at IS NOT NULL',
  )
  const oldest = db.prepare(
    `SELECT ended_at AS endedAt, seq, row_bytes AS bytes FROM jobs WHERE ended_at IS NOT NULL ORDER BY ended_at, seq`,
  )
  return (retention) => {
    const excess = excessOf(all.get() as { jobs: number; bytes: number }, retention)
    return excess ? endOfExcess(oldest.iterate() as unknown as Iterable<Sized>, excess) : noPosition
  }
}
