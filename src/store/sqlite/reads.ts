/** Reads jobs, contents and pages. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { filterOf } from '../queries.ts'
import { type JobRow, jobColumns } from '../rows.ts'
import type { DisabledUrl, Found, Position, Read, ResultOf } from './calls.ts'

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
  oldestToRemove(call: Of<'oldest-to-remove'>): Position
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

/** Everything up to the newer of the two limits is to be removed. */
function prepareOldestToRemove(db: DatabaseSync): Reads['oldestToRemove'] {
  const kept = db.prepare(
    'SELECT ended_at, seq, kept_bytes FROM jobs WHERE kept_bytes IS NOT NULL ORDER BY ended_at DESC, seq DESC',
  )
  return ({ now, retention: { keepMs, keepBytes } }) => {
    const byAge = { endedAt: now - keepMs, seq: 0 }
    let bytes = 0
    for (const row of kept.iterate() as Iterable<Record<string, number>>) {
      if (row.ended_at! < byAge.endedAt) break
      bytes += row.kept_bytes!
      if (bytes > keepBytes) return { endedAt: row.ended_at!, seq: row.seq! }
    }
    return byAge
  }
}
