/** Writes jobs, their ends and notes, many rows at a time. */
import { StoreError } from '../../lib/errors.ts'
import type { Batches, Row } from '../batches.ts'
import { type AcceptedRow, type EndRow, idTaken, isSameJob, type JobRow } from '../rows.ts'
import type { Webhook } from '../store.ts'
import type { Place } from './contents.ts'
import type { Database, Value } from './database.ts'
import { fencedError } from './leader.ts'
import type { Reads } from './reads.ts'
import { acceptRows, endRows, startRows, webhookRows } from './statements.ts'

export type Accepted = { kind: 'accepted' } | { kind: 'repeated' | 'conflict'; row: JobRow }

export interface Writes {
  accept(epoch: number, row: AcceptedRow, body: Place): Promise<Accepted>
  /** Resolves with false if the job has ended before, or is unknown. */
  end(epoch: number, row: EndRow, result: Place): Promise<boolean>
  noteStarted(epoch: number, id: string, startedAt: number): Promise<void>
  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void>
}

interface Job<R> extends Row {
  row: R
  place: Place
}

interface Note extends Row {
  row: object
}

/** What a row takes besides its texts, roughly. */
const rowBytes = 500

export function writesOf(db: Database, reads: Reads, batches: Batches): Writes {
  const accept = batches.lane<Job<AcceptedRow>, Accepted>(async (epoch, jobs) => {
    const added = await writeJobs(db, acceptRows, epoch, jobs)
    const others = jobs.filter(({ row }) => !added.has(row.id))
    const found = others.length > 0 ? await standing(reads, others) : () => new StoreError('')
    return jobs.map(({ row }) => (added.has(row.id) ? { kind: 'accepted' } : found(row)))

    async function standing(from: Reads, of: readonly Job<AcceptedRow>[]) {
      const keyed = of.flatMap(({ row: { client, idempotency_key: key } }) =>
        key === null ? [] : [{ client, key }],
      )
      const rows = await from.standing(
        of.map(({ row }) => row.id),
        keyed.map(({ client }) => client),
        keyed.map(({ key }) => key),
      )
      return (row: AcceptedRow) => earlier(db.store, rows, row)
    }
  })

  const end = batches.lane<Job<EndRow>, boolean>(async (epoch, jobs) => {
    const ended = await writeJobs(db, endRows, epoch, jobs)
    return jobs.map(({ row }) => ended.has(row.id))
  })

  const notesBy = (statement: string) =>
    batches.lane<Note, void>(async (epoch, notes) => {
      const rows = JSON.stringify(notes.map(({ row }) => row))
      await ledBy(db, epoch, statement, [epoch, rows])
      return notes.map(() => undefined)
    })
  const started = notesBy(startRows)
  const webhooks = notesBy(webhookRows)

  return {
    accept(epoch, row, body) {
      const { id, client, idempotency_key: key } = row
      const names = key === null ? [id] : [id, JSON.stringify([client, key])]
      return accept({ epoch, names, bytes: sizeOf(row, body), row, place: body })
    },
    end: (epoch, row, result) =>
      end({ epoch, names: [row.id], bytes: sizeOf(row, result), row, place: result }),
    noteStarted: (epoch, id, startedAt) =>
      started({ epoch, names: [id], bytes: rowBytes, row: { id, started_at: startedAt } }),
    noteWebhook: (epoch, id, { url, state, tries, dueAt: due, problem }) =>
      webhooks({ epoch, names: [id], bytes: rowBytes, row: { id, url, state, tries, due, problem } }),
  }
}

/** The ids of the rows that were written. */
async function writeJobs(
  db: Database,
  statement: string,
  epoch: number,
  jobs: readonly Job<AcceptedRow | EndRow>[],
): Promise<ReadonlySet<string>> {
  let at = 0
  const rows = jobs.map(({ row, place: { bytes, content } }) => {
    const length = bytes?.length ?? 0
    at += length
    return { ...row, at: at - length, length, content }
  })
  const contents = Buffer.concat(jobs.flatMap(({ place: { bytes } }) => bytes ?? []))
  const { ids } = await ledBy<{ ids: string[] }>(db, epoch, statement, [
    epoch,
    contents,
    JSON.stringify(rows),
  ])
  return new Set(ids)
}

/** The row that a fenced statement returns. Rejects if its epoch is not the leader's. */
export async function ledBy<R extends object>(
  db: Database,
  epoch: number,
  statement: string,
  values: readonly Value[],
): Promise<R> {
  const [row] = await db.write<R & { leads: boolean }>(statement, values)
  if (!row?.leads) throw await fencedError(db, epoch)
  return row
}

/** Why a job was not added: it, or another one with its key or its id, is there already. */
function earlier(store: string, rows: readonly JobRow[], row: AcceptedRow): Accepted | StoreError {
  const { id, client, idempotency_key: key } = row
  const byKey = rows.find((each) => key !== null && each.client === client && each.idempotency_key === key)
  if (byKey && byKey.id !== id)
    return { kind: byKey.fingerprint === row.fingerprint ? 'repeated' : 'conflict', row: byKey }
  const byId = rows.find((each) => each.id === id)
  if (byId) return isSameJob(byId, row) ? { kind: 'accepted' } : idTaken(store, id)
  // It was swept between the two statements.
  return new StoreError(`${store}: job ${id} collided with one that was just removed. Try again`)
}

function sizeOf(row: AcceptedRow | EndRow, { bytes }: Place): number {
  const texts = Object.values(row).map((value) => (typeof value === 'string' ? value.length : 0))
  return texts.reduce((sum, length) => sum + length, rowBytes) + (bytes?.length ?? 0)
}
