/** Jobs, answers and helpers for tests of stores. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StoreErrorCode } from '../../lib/errors.ts'
import type { Answer, Content, JobStore, NewJob, Retention } from '../store.ts'

/** A store and how to open it again. */
export interface Subject {
  /** Opens the same jobs again; the test closes what it opened before. */
  open(): Promise<JobStore>
  /** What a process of its own passes to `openJobStore`. */
  location: string
}

export type MakeSubject = (t: TestContext) => Promise<Subject>

export interface Led {
  store: JobStore
  epoch: number
}

/** Closed when the test ends. */
export async function openLed(t: TestContext, subject: Subject): Promise<Led> {
  const store = await subject.open()
  t.after(() => store.close())
  return { store, epoch: await epochOf(store) }
}

export async function epochOf(store: JobStore, holder = 'test'): Promise<number> {
  const lease = await store.lead(holder, 60_000)
  assert.ok(lease, 'a leader can begin')
  return lease.epoch
}

export const startedAt = 1_800_000_000_000

export function newJob(number: number, changes: Partial<NewJob> & { body?: Content } = {}): NewJob {
  const { body = Buffer.from(`body ${number}`), ...others } = changes
  return {
    id: `job-${number}`,
    workload: 'thumbnails',
    client: 'client',
    request: { method: 'POST', target: `/thumbnails?n=${number}`, fields: [['x-number', `${number}`]], body },
    acceptedAt: startedAt + number,
    quote: { workMs: number },
    isRepeatable: true,
    ...others,
  }
}

export function answerOf(number: number, changes: Partial<Answer> = {}): Answer {
  return {
    status: 200,
    fields: [['content-type', 'text/plain']],
    body: Buffer.from(`result ${number}`),
    endedAt: startedAt + 1_000 + number,
    ...changes,
  }
}

export const keepAll: Retention = {
  ...{ keepMs: Infinity, keepBytes: Infinity },
  ...{ rememberMs: Infinity, rememberJobs: Infinity, rememberBytes: Infinity },
}

/** Rejects also if it is undefined. */
export async function bytesOf(content: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  assert.ok(content, 'a content is kept')
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(part)
  return Buffer.concat(parts)
}

export async function idsOf(
  jobs: AsyncIterable<{ id: string }> | Iterable<{ id: string }>,
): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of jobs) ids.push(id)
  return ids
}

export function range(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}

export async function rejectsWith(
  promise: Promise<unknown>,
  code: StoreErrorCode,
  message: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error: Error & { code?: string }) => {
    assert.equal(error.name, 'StoreError', `${error}`)
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  })
}
