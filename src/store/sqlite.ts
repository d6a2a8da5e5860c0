/** A store in one SQLite file, with large contents in files beside it. A thread of its own writes the database. */
import { resolve } from 'node:path'
import { StoreError } from '../lib/errors.ts'
import { bytesOf, takeIn } from './content.ts'
import { checkPageLimit, cursorAfter, seqOfCursor } from './queries.ts'
import { acceptedRow, answerRow, cancelRow, isClosed, readJob } from './rows.ts'
import type { Call, Found, Place, ResultOf, ThreadData } from './sqlite/calls.ts'
import { type ContentFiles, contentFiles } from './sqlite/content-files.ts'
import { type JobsThread, startThread } from './sqlite/thread.ts'
import type {
  Acceptance,
  Answer,
  Content,
  Field,
  JobPage,
  JobQuery,
  JobStore,
  KeptAnswer,
  Lease,
  NewJob,
  Retention,
  StoredJob,
  Webhook,
} from './store.ts'

export interface SqliteJobsOptions {
  /** Created if missing. Only one process at a time may use it; opening it ends the leases of processes before. */
  folder: string
  /** How long to wait while another process locks the files. */
  busyMs?: number
}

/**
 * Resolves when the folder is locked and its file can be written. Rejects with StoreError, and changes nothing, if the
 * file is damaged.
 */
export async function openSqliteJobs({ folder, busyMs = 1_000 }: SqliteJobsOptions): Promise<JobStore> {
  const path = resolve(folder)
  const store = new SqliteJobStore({ folder: path, store: `job store ${path}`, busyMs, first: true })
  await store.start()
  return store
}

class SqliteJobStore implements JobStore {
  readonly #data: ThreadData
  readonly #files: ContentFiles
  readonly #store: string
  #running: Promise<JobsThread> | undefined
  #closing: Promise<void> | undefined

  constructor(data: ThreadData) {
    this.#data = data
    this.#store = data.store
    this.#files = contentFiles(`${data.folder}/contents`, data.store)
  }

  async start(): Promise<void> {
    await this.#thread(true)
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    const epoch = await this.#call({ kind: 'lead', holder, ttlMs })
    if (epoch === undefined) return undefined
    return {
      epoch,
      renew: (ttlMs) => this.#call({ kind: 'renew', epoch, ttlMs }),
      release: () => this.#call({ kind: 'release', epoch }),
    }
  }

  async accept(epoch: number, job: NewJob): Promise<Acceptance> {
    const { place, bytes } = await this.#place(job.request.body)
    const row = acceptedRow(job, bytes)
    const outcome = await this.#dropUnlessWritten(
      place,
      this.#call({ kind: 'accept', epoch, row, body: place }),
    )
    if (outcome.kind === 'accepted') return outcome
    await this.#drop(place)
    return { kind: outcome.kind, job: readJob(outcome.row) }
  }

  async answer(epoch: number, id: string, answer: Answer): Promise<boolean> {
    const { place, bytes } = await this.#place(answer.body)
    const row = answerRow(id, answer, bytes)
    const isFirst = await this.#dropUnlessWritten(
      place,
      this.#call({ kind: 'end', epoch, row, result: place }),
    )
    if (!isFirst) await this.#drop(place)
    return isFirst
  }

  cancel(epoch: number, id: string, endedAt: number, facts?: unknown): Promise<boolean> {
    return this.#call({ kind: 'end', epoch, row: cancelRow(id, endedAt, facts), result: undefined })
  }

  noteStarted(epoch: number, id: string, startedAt: number): Promise<void> {
    return this.#call({ kind: 'started', epoch, id, startedAt })
  }

  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void> {
    return this.#call({ kind: 'webhook', epoch, id, webhook })
  }

  async job(id: string): Promise<StoredJob | undefined> {
    const row = await this.#call({ kind: 'job', id })
    return row && readJob(row)
  }

  async byKey(client: string, key: string): Promise<StoredJob | undefined> {
    const row = await this.#call({ kind: 'by-key', client, key })
    return row && readJob(row)
  }

  async body(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.#find(() => this.#call({ kind: 'body', id })))?.body
  }

  async result(id: string): Promise<KeptAnswer | undefined> {
    const result = await this.#find(() => this.#call({ kind: 'result', id }))
    if (!result) return undefined
    const { found, body } = result
    const bytes = 'bytes' in found ? found.bytes.length : found.length
    return { status: found.status, fields: JSON.parse(found.fields) as Field[], bytes, body }
  }

  async list(query: JobQuery): Promise<JobPage> {
    checkPageLimit(this.#store, query.limit)
    const before = seqOfCursor(this.#store, query.cursor)
    const rows = await this.#call({ kind: 'list', query, before })
    const jobs = rows.slice(0, query.limit).map(readJob)
    return rows.length > query.limit ? { jobs, cursor: cursorAfter(rows[query.limit - 1]!.seq) } : { jobs }
  }

  async *open(): AsyncGenerator<StoredJob> {
    for (let after = 0; ; ) {
      const rows = await this.#call({ kind: 'open', after })
      if (rows.length === 0) return
      yield* rows.map(readJob)
      after = rows.at(-1)!.seq
    }
  }

  async waitingWebhooks(limit: number): Promise<StoredJob[]> {
    checkPageLimit(this.#store, limit)
    return (await this.#call({ kind: 'webhooks', limit })).map(readJob)
  }

  async disabledWebhooks(now: number): Promise<Map<string, number>> {
    const urls = await this.#call({ kind: 'disabled', now })
    return new Map(urls.map(({ url, until }) => [url, until]))
  }

  async sharedSecret(): Promise<undefined> {}

  async sweep(epoch: number, now: number, retention: Retention): Promise<number> {
    const upTo = await this.#call({ kind: 'oldest-to-remove', now, retention })
    for (let removed = 0; ; ) {
      const forgetBefore = now - retention.rememberMs
      const { results, isDone } = await this.#call({ kind: 'remove', epoch, upTo, forgetBefore })
      removed += results
      if (isDone) return removed
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const thread = await this.#running?.catch(() => undefined)
    await thread?.call({ kind: 'close' }).catch(() => {})
    await thread?.end()
  }

  async #call<K extends Call['kind']>(call: Call & { kind: K }): Promise<ResultOf<K>> {
    if (this.#closing) throw isClosed(this.#store)
    return (await this.#thread(false)).call<K>(call)
  }

  /** Starts a new thread if the last one has ended. */
  #thread(first: boolean): Promise<JobsThread> {
    if (this.#running) return this.#running
    const starting = startThread({ ...this.#data, first })
    const clear = () => {
      this.#running = undefined
    }
    starting.then(({ ended }) => ended.then(clear), clear)
    this.#running = starting
    return starting
  }

  async #place(content: Content): Promise<{ place: Place; bytes: number }> {
    const taken = await takeIn(content)
    if ('parts' in taken) {
      const { name, bytes } = await this.#files.write(taken.parts)
      return { place: { file: name }, bytes }
    }
    const { bytes } = taken
    if (bytes.length === 0) return { place: undefined, bytes: 0 }
    // A view would be sent with everything that shares its memory.
    return { place: { bytes: new Uint8Array(bytes) }, bytes: bytes.length }
  }

  /** If whether the row was written is unknown, the file stays: the next opening decides. */
  async #dropUnlessWritten<T>(place: Place, written: Promise<T>): Promise<T> {
    try {
      return await written
    } catch (error) {
      const isUnknown = error instanceof StoreError && error.code === 'STORE_UNKNOWN'
      if (!isUnknown) await this.#drop(place)
      throw error
    }
  }

  async #drop(place: Place): Promise<void> {
    if (place && 'file' in place) await this.#files.remove([place.file])
  }

  /** A file that is missing although its row still names it is an error; without the row, it was just removed. */
  async #find<F extends Found>(
    find: () => Promise<F | undefined>,
  ): Promise<{ found: F; body: AsyncIterable<Uint8Array> } | undefined> {
    let missing = ''
    for (;;) {
      const found = await find()
      if (!found) return undefined
      const body = await this.#contents(found)
      if (body) return { found, body }
      if ('file' in found && found.file === missing) {
        throw new StoreError(`${this.#store}: its file contents/${missing} is missing. Restore a backup`)
      }
      missing = 'file' in found ? found.file : ''
    }
  }

  async #contents(found: Found): Promise<AsyncIterable<Uint8Array> | undefined> {
    if ('bytes' in found) return bytesOf(found.bytes)
    return (await this.#files.has(found.file, found.length)) ? this.#files.read(found.file) : undefined
  }
}
