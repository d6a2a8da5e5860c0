/** Rows of the jobs table as both databases have them, and the jobs that they mean. */
import { StoreError } from '../lib/errors.ts'
import type { Answer, Field, NewJob, StoredJob, Webhook } from './store.ts'

/** The columns of `StoredJob`, in SQL. Both databases name them alike. */
export const jobColumns = [
  ...['id', 'workload', 'client', 'accepted_at', 'quote', 'method', 'target', 'fields', 'body_bytes'],
  ...['is_repeatable', 'started_at'],
  ...[
    'idempotency_key',
    'fingerprint',
    'state',
    'ended_at',
    'status',
    'result_bytes',
    'result_kept',
    'facts',
  ],
  ...['webhook_url', 'webhook_state', 'webhook_tries', 'webhook_due', 'webhook_problem'],
] as const

export interface JobRow {
  /** Grows with every accepted job. */
  seq: number
  id: string
  workload: string
  client: string
  accepted_at: number
  /** JSON, like `fields` and `facts`. */
  quote: string | null
  method: string
  target: string
  fields: string
  body_bytes: number
  /** 1: its attempts may be repeated. */
  is_repeatable: number
  started_at: number | null
  idempotency_key: string | null
  fingerprint: string | null
  state: StoredJob['state']
  ended_at: number | null
  status: number | null
  result_bytes: number | null
  /** 1: its result is kept. */
  result_kept: number
  facts: string | null
  webhook_url: string | null
  webhook_state: Webhook['state'] | null
  webhook_tries: number
  webhook_due: number | null
  webhook_problem: string | null
}

export function readJob(row: JobRow): StoredJob {
  const { started_at: startedAt, ended_at: endedAt, idempotency_key: key } = row
  const { facts, status, webhook_url: url } = row
  return {
    id: row.id,
    workload: row.workload,
    client: row.client,
    acceptedAt: row.accepted_at,
    quote: row.quote === null ? undefined : JSON.parse(row.quote),
    method: row.method,
    target: row.target,
    fields: JSON.parse(row.fields) as Field[],
    bodyBytes: row.body_bytes,
    isRepeatable: row.is_repeatable === 1,
    state: row.state,
    ...(startedAt !== null && { startedAt }),
    ...(key !== null && { idempotencyKey: key }),
    ...(endedAt !== null && { endedAt }),
    ...(status !== null && {
      answer: { status, bytes: row.result_bytes ?? 0, isKept: row.result_kept === 1 },
    }),
    ...(url !== null && { webhook: readWebhook(row, url) }),
    ...(facts !== null && { facts: JSON.parse(facts) as unknown }),
  }
}

function readWebhook(row: JobRow, url: string): Webhook {
  const { webhook_due: dueAt, webhook_problem: problem } = row
  return {
    url,
    state: row.webhook_state ?? 'waiting',
    tries: row.webhook_tries,
    ...(dueAt !== null && { dueAt }),
    ...(problem !== null && { problem }),
  }
}

/** What `accept` writes, without the body. */
export function acceptedRow(job: NewJob, bodyBytes: number) {
  const { request, idempotency } = job
  return {
    id: job.id,
    workload: job.workload,
    client: job.client,
    accepted_at: job.acceptedAt,
    quote: json(job.quote),
    method: request.method,
    target: request.target,
    fields: JSON.stringify(request.fields),
    body_bytes: bodyBytes,
    is_repeatable: job.isRepeatable ? 1 : 0,
    idempotency_key: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    webhook_url: job.webhook ?? null,
    webhook_state: job.webhook === undefined ? null : ('waiting' as const),
  }
}

export type AcceptedRow = ReturnType<typeof acceptedRow>

/** What `answer` and `cancel` write, without the result. */
export interface EndRow {
  id: string
  state: 'answered' | 'cancelled'
  ended_at: number
  status: number | null
  answer_fields: string | null
  result_bytes: number | null
  facts: string | null
}

export function answerRow(id: string, answer: Answer, bytes: number): EndRow {
  return {
    ...{ id, state: 'answered', ended_at: answer.endedAt, status: answer.status, result_bytes: bytes },
    answer_fields: JSON.stringify(answer.fields),
    facts: json(answer.facts),
  }
}

export function cancelRow(id: string, endedAt: number, facts: unknown): EndRow {
  return {
    ...{ id, state: 'cancelled', ended_at: endedAt, status: null, result_bytes: null },
    ...{ answer_fields: null, facts: json(facts) },
  }
}

/** What a row takes besides its texts, with its part of the indexes; roughly. */
const bareRowBytes = 500

/** The space of the row of a job that ends, in SQL. */
export function rowBytesSql(row: string, end: string): string {
  const texts = [...acceptedTexts.map((column) => row + column), ...endTexts.map((column) => end + column)]
  return [bareRowBytes, ...texts.map((text) => `coalesce(octet_length(${text}), 0)`)].join(' + ')
}

export function rowBytesOf(row: JobRow, end: EndRow): number {
  const texts = [...acceptedTexts.map((column) => row[column]), ...endTexts.map((column) => end[column])]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), bareRowBytes)
}

const acceptedTexts = [
  ...(['id', 'workload', 'client', 'quote', 'method', 'target', 'fields'] as const),
  ...(['idempotency_key', 'fingerprint', 'webhook_url'] as const),
]
const endTexts = ['facts', 'answer_fields'] as const

function json(value: unknown): string | null {
  return JSON.stringify(value) ?? null
}

/** Whether a job of the same id is the one that is accepted again: its caller did not learn that it was accepted. */
export function isSameJob(found: JobRow, job: AcceptedRow): boolean {
  return (
    found.id === job.id &&
    found.client === job.client &&
    found.workload === job.workload &&
    found.method === job.method &&
    found.target === job.target &&
    found.body_bytes === job.body_bytes &&
    found.idempotency_key === job.idempotency_key
  )
}

export function idTaken(store: string, id: string): StoreError {
  return new StoreError(`${store}: job ${id} exists already and is another one. Draw a new id for each job`)
}

export function fenced(store: string, epoch: number, current: number): StoreError {
  const why = epoch < current ? 'a newer leader has begun' : 'no leader has begun with this epoch'
  return new StoreError(`${store}: epoch ${epoch} must not write: ${why} (epoch ${current})`, 'STORE_FENCED')
}

export function isClosed(store: string): StoreError {
  return new StoreError(`${store}: it is closed. Open it again`)
}
