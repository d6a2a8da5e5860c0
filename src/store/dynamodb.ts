/** A store in a table of DynamoDB. Several clusters may name the same one: one of them leads, the others wait. */
import { numberOf, textOf, toItem } from '../aws/dynamo/attributes.ts'
import { type Dynamo, ensureTable, getItems, openDynamo } from '../aws/dynamo/dynamo.ts'
import { DynamoError } from '../aws/dynamo/explain-error.ts'
import { parseDynamo } from '../aws/dynamo/location.ts'
import { StoreError } from '../lib/errors.ts'
import { Batches } from './batches.ts'
import { drop, nowhere, type Place, place, read } from './dynamo/contents.ts'
import { mostBytes, mostItems, writers } from './dynamo/fence.ts'
import { definition, type JobsTable, keyOf } from './dynamo/layout.ts'
import { Leadership } from './dynamo/leader.ts'
import { type Reads, readsOf } from './dynamo/reads.ts'
import { sweep } from './dynamo/sweep.ts'
import { type Writes, writesOf } from './dynamo/writes.ts'
import { checkPageLimit, cursorAfter, seqOfCursor } from './queries.ts'
import { acceptedRow, answerRow, cancelRow, isClosed, readJob } from './rows.ts'
import type {
  Acceptance,
  Answer,
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

/** A job that is accepted is written with its entry among the open ones, its key, and the claim of its body. */
const mostItemsOfJob = 4
const version = 1

/** Makes the table if it is missing. Rejects with ConfigError if the location is wrong or the package is not installed. */
export async function openDynamoJobs(location: string): Promise<JobStore> {
  const parsed = parseDynamo(location)
  const dynamo = await openDynamo(parsed)
  const table = `${parsed.prefix}-jobs`
  const jobs = { dynamo, table, store: `job store dynamodb://${parsed.prefix}` }
  try {
    await prepare(jobs)
    return new DynamoJobStore(jobs)
  } catch (error) {
    dynamo.close()
    throw explained(error, jobs.store, false)
  }
}

async function prepare({ dynamo, table, store }: JobsTable): Promise<void> {
  const keys = await ensureTable(dynamo, definition(table))
  if (keys.join() !== 'pk,sk')
    throw new StoreError(`${store}: its table ${table} belongs to another application. Choose another prefix`)
  const item = { ...keyOf('version'), ...toItem({ version }) }
  const found = (await getItems(dynamo, table, [keyOf('version')]))[0]
  if (!found) await dynamo.call('PutItem', table, (db) => db.putItem({ TableName: table, Item: item }))
  const has = numberOf(found ?? item, 'version') ?? 0
  if (has > version)
    throw new StoreError(
      `${store}: its table has version ${has}; this Plimsoll supports versions up to ${version}. ` +
        'Use the newer Plimsoll that made it, or choose another prefix',
    )
}

/** A write that DynamoDB did not answer may have been done. */
function explained(error: unknown, store: string, wasWriting: boolean): unknown {
  if (!(error instanceof DynamoError)) return error
  const isUnknown = wasWriting && error.isUnknown
  return new StoreError(`${store}: ${error.message}`, isUnknown ? 'STORE_UNKNOWN' : 'STORE')
}

class DynamoJobStore implements JobStore {
  readonly #jobs: JobsTable
  readonly #dynamo: Dynamo
  readonly #leadership: Leadership
  readonly #batches: Batches
  readonly #reads: Reads
  readonly #writes: Writes
  readonly #begun = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(jobs: JobsTable) {
    this.#jobs = jobs
    this.#dynamo = jobs.dynamo
    this.#leadership = new Leadership(jobs)
    this.#batches = new Batches(
      { statements: writers, rows: Math.floor(mostItems / mostItemsOfJob), bytes: mostBytes },
      {
        explain: (error) => explained(error, jobs.store, true) as Error,
        isWrongValue: (error) =>
          error instanceof DynamoError &&
          ['ValidationException', 'TransactionCanceledException'].includes(error.reason),
      },
    )
    this.#reads = readsOf(jobs)
    this.#writes = writesOf(jobs, this.#reads, this.#batches)
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    const lease = await this.#write(() => this.#leadership.lead(holder, ttlMs))
    return (
      lease && {
        epoch: lease.epoch,
        renew: (ms) => this.#write(() => lease.renew(ms)),
        release: () => this.#write(() => lease.release()),
      }
    )
  }

  async accept(epoch: number, job: NewJob): Promise<Acceptance> {
    return this.#write(async () => {
      const body = await place(this.#jobs, epoch, job.request.body)
      const write = this.#writes.accept(epoch, acceptedRow(job, body.length), body)
      const outcome = await this.#dropUnlessWritten(body, write)
      if (outcome.kind === 'accepted') return this.#dropUnlessOwned(job.id, body)
      await drop(this.#jobs, body)
      return { kind: outcome.kind, job: readJob(outcome.row) }
    })
  }

  async answer(epoch: number, id: string, answer: Answer): Promise<boolean> {
    return this.#write(async () => {
      const result = await place(this.#jobs, epoch, answer.body)
      const write = this.#writes.end(epoch, answerRow(id, answer, result.length), result)
      const isFirst = await this.#dropUnlessWritten(result, write)
      if (!isFirst) await drop(this.#jobs, result)
      return isFirst
    })
  }

  cancel(epoch: number, id: string, endedAt: number, facts?: unknown): Promise<boolean> {
    return this.#write(() => this.#writes.end(epoch, cancelRow(id, endedAt, facts), nowhere))
  }

  noteStarted(epoch: number, id: string, startedAt: number): Promise<void> {
    return this.#write(() => this.#writes.noteStarted(epoch, id, startedAt))
  }

  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void> {
    return this.#write(() => this.#writes.noteWebhook(epoch, id, webhook))
  }

  async job(id: string): Promise<StoredJob | undefined> {
    const row = await this.#read(() => this.#reads.job(id))
    return row && readJob(row)
  }

  async byKey(client: string, key: string): Promise<StoredJob | undefined> {
    const row = await this.#read(() => this.#reads.byKey(client, key))
    return row && readJob(row)
  }

  async body(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#read(() => this.#reads.body(id))
    return found && this.#contentOf(found)
  }

  async result(id: string): Promise<KeptAnswer | undefined> {
    const found = await this.#read(() => this.#reads.result(id))
    if (!found) return undefined
    const { status, fields, length: bytes } = found
    return { status, fields: JSON.parse(fields) as Field[], bytes, body: this.#contentOf(found) }
  }

  async list(query: JobQuery): Promise<JobPage> {
    this.#mustBeOpen()
    checkPageLimit(this.#jobs.store, query.limit)
    const before = seqOfCursor(this.#jobs.store, query.cursor)
    const rows = await this.#read(() => this.#reads.list(query, before))
    const jobs = rows.slice(0, query.limit).map(readJob)
    return rows.length > query.limit ? { jobs, cursor: cursorAfter(rows[query.limit - 1]!.seq) } : { jobs }
  }

  async *open(): AsyncGenerator<StoredJob> {
    const pages = this.#reads.open()
    for (;;) {
      const { value, done } = await this.#read(() => pages.next())
      if (done) return
      yield* value.map(readJob)
    }
  }

  async waitingWebhooks(limit: number): Promise<StoredJob[]> {
    this.#mustBeOpen()
    checkPageLimit(this.#jobs.store, limit)
    return (await this.#read(() => this.#reads.webhooks(limit))).map(readJob)
  }

  async disabledWebhooks(now: number): Promise<Map<string, number>> {
    return this.#read(() => this.#reads.disabled(now))
  }

  async sharedSecret(proposal: string): Promise<string | undefined> {
    const { dynamo, table } = this.#jobs
    const key = keyOf('secret')
    const find = async () => (await getItems(dynamo, table, [key]))[0]
    const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }
    return this.#write(async () => {
      if (!(await find()))
        await dynamo
          .call('PutItem', table, (db) =>
            db.putItem({ TableName: table, Item: { ...key, ...toItem({ secret: proposal }) }, ...isNew }),
          )
          .catch((error: unknown) => {
            const isOther = error instanceof DynamoError && error.reason === 'ConditionalCheckFailedException'
            if (!isOther) throw error
          })
      const found = await find()
      return found && textOf(found, 'secret')
    })
  }

  sweep(epoch: number, now: number, retention: Retention): Promise<number> {
    return this.#write(() => sweep(this.#jobs, { epoch, now, retention }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#begun)
    await this.#batches.idle()
    this.#dynamo.close()
  }

  async *#contentOf(found: Place): AsyncGenerator<Uint8Array> {
    const parts = read(this.#jobs, found)[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await this.#read(() => parts.next())
      if (done) return
      yield value
    }
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    try {
      return await work()
    } catch (error) {
      throw explained(error, this.#jobs.store, false)
    }
  }

  /** Errors of DynamoDB become errors of the store; those of a content are passed on. */
  async #write<T>(write: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    const begun = write()
    this.#begun.add(begun)
    try {
      return await begun
    } catch (error) {
      throw explained(error, this.#jobs.store, true)
    } finally {
      this.#begun.delete(begun)
    }
  }

  #mustBeOpen(): void {
    if (this.#closing) throw isClosed(this.#jobs.store)
  }

  /** If whether the job was written is unknown, the content stays: it is loose, or the job's. */
  async #dropUnlessWritten<T>(content: Place, written: Promise<T>): Promise<T> {
    try {
      return await written
    } catch (error) {
      const isUnknown = error instanceof StoreError && error.code === 'STORE_UNKNOWN'
      if (!isUnknown) await drop(this.#jobs, content)
      throw error
    }
  }

  /** A job that was accepted before, with a content of its own, needs no second one. */
  async #dropUnlessOwned(id: string, body: Place): Promise<Acceptance> {
    if (body.content !== undefined && (await this.#reads.body(id))?.content !== body.content)
      await drop(this.#jobs, body)
    return { kind: 'accepted' }
  }
}
