/** Writes jobs and the leader. The caller opens the transaction, and checks the epoch. */
import type { DatabaseSync } from 'node:sqlite'
import type { Removal } from '../queries.ts'
import { type AcceptedRow, idTaken, isSameJob, type JobRow, rowBytesSql } from '../rows.ts'
import type { Place, ResultOf, Write } from './calls.ts'

type Of<K extends Write['kind']> = Write & { kind: K }

export interface Writes {
  epoch(): number
  accept(call: Of<'accept'>): ResultOf<'accept'>
  end(call: Of<'end'>): boolean
  noteStarted(call: Of<'started'>): undefined
  noteWebhook(call: Of<'webhook'>): undefined
  lead(call: Of<'lead'>, now: number): number | undefined
  renew(call: Of<'renew'>, now: number): boolean
  release(call: Of<'release'>): undefined
  /** Returns the files that are no longer named by any row. */
  remove(call: Of<'remove'>): { result: ResultOf<'remove'>; files: string[] }
}

/** A step of a removal takes a few milliseconds, so that accepted jobs never wait long for it. */
const stepRows = 200

export function prepareWrites(db: DatabaseSync, store: string): Writes {
  const leaderEpoch = db.prepare('SELECT epoch FROM leader')
  const addContent = db.prepare('INSERT INTO contents (id, bytes, file) VALUES (?, ?, ?)')

  function keep(id: number, place: Place): void {
    if (place === undefined) return
    addContent.run(id, 'bytes' in place ? place.bytes : null, 'file' in place ? place.file : null)
  }

  return {
    epoch: () => Number(leaderEpoch.get()!.epoch),
    accept: prepareAccept(db, store, keep),
    end: prepareEnd(db, keep),
    noteStarted: prepareStarted(db),
    noteWebhook: prepareWebhook(db),
    ...prepareLeader(db),
    remove: prepareRemove(db),
  }
}

type Keep = (id: number, place: Place) => void

const acceptedColumns: readonly (keyof AcceptedRow)[] = [
  ...(['id', 'workload', 'client', 'accepted_at', 'quote', 'method', 'target', 'fields'] as const),
  ...([
    'body_bytes',
    'is_repeatable',
    'idempotency_key',
    'fingerprint',
    'webhook_url',
    'webhook_state',
  ] as const),
]

function prepareAccept(db: DatabaseSync, store: string, keep: Keep): Writes['accept'] {
  const byKey = db.prepare('SELECT * FROM jobs WHERE client = ? AND idempotency_key = ?')
  const byId = db.prepare('SELECT * FROM jobs WHERE id = ?')
  const insert = db.prepare(
    `INSERT INTO jobs (${acceptedColumns}) VALUES (${acceptedColumns.map(() => '?')}) ON CONFLICT (id) DO NOTHING`,
  )
  return ({ row, body }) => {
    const { idempotency_key: key } = row
    const found = key === null ? undefined : (byKey.get(row.client, key) as JobRow | undefined)
    if (found && found.id !== row.id) {
      const kind = found.fingerprint === row.fingerprint ? 'repeated' : 'conflict'
      return { kind, row: found }
    }
    const { changes, lastInsertRowid } = insert.run(...acceptedColumns.map((column) => row[column]))
    if (changes === 1) keep(Number(lastInsertRowid) * 2, body)
    else if (!isSameJob(byId.get(row.id) as unknown as JobRow, row)) throw idTaken(store, row.id)
    return { kind: 'accepted' }
  }
}

function prepareEnd(db: DatabaseSync, keep: Keep): Writes['end'] {
  const end = db.prepare(
    `UPDATE jobs SET state = :state, ended_at = :ended_at, status = :status, answer_fields = :answer_fields,
       result_bytes = :result_bytes, result_kept = :result_bytes IS NOT NULL, facts = :facts,
       kept_bytes = body_bytes + ifnull(:result_bytes, 0), row_bytes = ${rowBytesSql('', ':')},
       webhook_due = CASE WHEN webhook_url IS NULL THEN NULL ELSE :ended_at END
     WHERE id = :id AND state = 'open' RETURNING seq`,
  )
  return ({ row, result }) => {
    const ended = end.get({ ...row })
    if (!ended) return false
    keep(Number(ended.seq) * 2 + 1, result)
    return true
  }
}

function prepareStarted(db: DatabaseSync): Writes['noteStarted'] {
  const note = db.prepare('UPDATE jobs SET started_at = ? WHERE id = ?')
  return ({ id, startedAt }) => {
    note.run(startedAt, id)
    return undefined
  }
}

function prepareWebhook(db: DatabaseSync): Writes['noteWebhook'] {
  const note = db.prepare(
    `UPDATE jobs SET webhook_url = ?, webhook_state = ?, webhook_tries = ?, webhook_due = ?, webhook_problem = ?
     WHERE id = ?`,
  )
  return ({ id, webhook: { url, state, tries, dueAt, problem } }) => {
    note.run(url, state, tries, dueAt ?? null, problem ?? null, id)
    return undefined
  }
}

function prepareLeader(db: DatabaseSync): Pick<Writes, 'lead' | 'renew' | 'release'> {
  const lead = db.prepare(
    `UPDATE leader SET epoch = epoch + 1, holder = :holder, until = :now + :ttlMs
     WHERE until <= :now OR holder = :holder RETURNING epoch`,
  )
  const renew = db.prepare('UPDATE leader SET until = ? WHERE epoch = ?')
  const release = db.prepare("UPDATE leader SET until = 0, holder = '' WHERE epoch = ?")
  return {
    lead({ holder, ttlMs }, now) {
      const led = lead.get({ holder, ttlMs, now })
      return led && Number(led.epoch)
    },
    renew: ({ epoch, ttlMs }, now) => renew.run(now + ttlMs, epoch).changes === 1,
    release({ epoch }) {
      release.run(epoch)
      return undefined
    },
  }
}

function prepareRemove(db: DatabaseSync): Writes['remove'] {
  const kept = db.prepare(
    `SELECT seq, result_kept FROM jobs WHERE kept_bytes IS NOT NULL AND (ended_at, seq) <= (?, ?)
     ORDER BY ended_at, seq LIMIT ?`,
  )
  const removeContents = db.prepare('DELETE FROM contents WHERE id IN (?, ?) RETURNING file')
  const unkeep = db.prepare(
    'UPDATE jobs SET kept_bytes = NULL, result_kept = 0, answer_fields = NULL WHERE seq = ?',
  )
  // A webhook that still waits is tried again, unless the job is above the limits.
  const forget = db.prepare(
    `DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs
       WHERE ended_at <= max(:before, :endedAt) AND kept_bytes IS NULL
         AND (ended_at < :before AND webhook_state IS NOT 'waiting' OR (ended_at, seq) <= (:endedAt, :seq))
       ORDER BY ended_at, seq LIMIT :rows)`,
  )

  return ({ upTo: { results: upTo, jobs }, forgetBefore }: { upTo: Removal; forgetBefore: number }) => {
    const rows = kept.all(upTo.endedAt, upTo.seq, stepRows) as { seq: number; result_kept: number }[]
    const files: string[] = []
    for (const { seq } of rows) {
      for (const { file } of removeContents.all(seq * 2, seq * 2 + 1)) {
        if (file !== null) files.push(String(file))
      }
      unkeep.run(seq)
    }
    const forgotten = forget.run({ before: forgetBefore, ...jobs, rows: stepRows - rows.length }).changes
    const results = rows.filter(({ result_kept }) => result_kept === 1).length
    return { result: { results, isDone: rows.length + Number(forgotten) < stepRows }, files }
  }
}
