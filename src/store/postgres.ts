/** A store in a PostgreSQL database. Several clusters may name the same one: one of them leads, the others wait. */
import { StoreError } from '../lib/errors.ts'
import { Batches } from './batches.ts'
import { drop, nowhere, type Place, place, read } from './postgres/contents.ts'
import { type Database, openDatabase } from './postgres/database.ts'
import { explainError, isRejected, isWrongValue } from './postgres/explain-error.ts'
import { lead } from './postgres/leader.ts'
import { disabledWebhooks, type Reads, readsOf, secretOf } from './postgres/reads.ts'
import { migrate } from './postgres/schema.ts'
import { addSecret } from './postgres/statements.ts'
import { sweep } from './postgres/sweep.ts'
import { type Writes, writesOf } from './postgres/writes.ts'
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

export interface PostgresJobsOptions {
  url: string
  /** Statements that write jobs at a time. Each takes all rows that wait. */
  writers?: number
}

const usualWriters = 3
/** Of one statement. */
const batchLimits = { rows: 1_000, bytes: 4 * 2 ** 20 }
/** For everything but rows of jobs: those wait neither behind reads nor behind long contents. */
const others = { connections: 5, connectMs: 10_000, limitMs: 30_000 }
/** A renewal of the lease has a connection of its own, and has failed if it takes longer than this. */
const forLeases = { connections: 1, connectMs: 3_000, limitMs: 4_000 }

interface Databases {
  others: Database
  writers: Database
  leases: Database
}

/** Resolves when the tables are there. Rejects with ConfigError if the URL is wrong or the driver is not installed. */
export async function openPostgresJobs({
  url,
  writers = usualWriters,
}: PostgresJobsOptions): Promise<JobStore> {
  const db = await openDatabase(url, others)
  try {
    await migrate(db)
  } catch (error) {
    await db.close()
    throw isRejected(error) ? explainError(error, db.store, false) : error
  }
  const databases = {
    others: db,
    writers: await openDatabase(url, { ...others, connections: writers }),
    leases: await openDatabase(url, forLeases),
  }
  return new PostgresJobStore(databases, writers)
}

class PostgresJobStore implements JobStore {
  readonly #databases: Databases
  readonly #db: Database
  readonly #batches: Batches
  readonly #reads: Reads
  readonly #writes: Writes
  readonly #begun = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(databases: Databases, writers: number) {
    this.#databases = databases
    const { others: db, writers: forRows } = databases
    this.#db = db
    this.#batches = new Batches(
      { statements: writers, ...batchLimits },
      { explain: (error) => explainError(error, db.store, true), isWrongValue },
    )
    this.#reads = readsOf(db)
    this.#writes = writesOf(forRows, readsOf(forRows), this.#batches)
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    const lease = await this.#write(() => lead(this.#databases.leases, holder, ttlMs))
    if (!lease) return undefined
    return {
      epoch: lease.epoch,
      renew: (ms) => this.#write(() => lease.renew(ms)),
      release: () => this.#write(() => lease.release()),
    }
  }

  async accept(epoch: number, job: NewJob): Promise<Acceptance> {
    return this.#write(async () => {
      const body = await place(this.#db, epoch, job.request.body)
      const write = this.#writes.accept(epoch, acceptedRow(job, body.length), body)
      const outcome = await this.#dropUnlessWritten(epoch, body, write)
      if (outcome.kind === 'accepted') return this.#dropUnlessOwned(epoch, job.id, body)
      await drop(this.#db, epoch, body)
      return { kind: outcome.kind, job: readJob(outcome.row) }
    })
  }

  async answer(epoch: number, id: string, answer: Answer): Promise<boolean> {
    return this.#write(async () => {
      const result = await place(this.#db, epoch, answer.body)
      const write = this.#writes.end(epoch, answerRow(id, answer, result.length), result)
      const isFirst = await this.#dropUnlessWritten(epoch, result, write)
      if (!isFirst) await drop(this.#db, epoch, result)
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
    this.#mustBeOpen()
    const row = await this.#reads.job(id)
    return row && readJob(row)
  }

  async byKey(client: string, key: string): Promise<StoredJob | undefined> {
    this.#mustBeOpen()
    const row = await this.#reads.byKey(client, key)
    return row && readJob(row)
  }

  async body(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    this.#mustBeOpen()
    const found = await this.#reads.body(id)
    return found && read(this.#db, found)
  }

  async result(id: string): Promise<KeptAnswer | undefined> {
    this.#mustBeOpen()
    const found = await this.#reads.result(id)
    if (!found) return undefined
    const { status, fields, length: bytes } = found
    return { status, fields: JSON.parse(fields) as Field[], bytes, body: read(this.#db, found) }
  }

  async list(query: JobQuery): Promise<JobPage> {
    this.#mustBeOpen()
    checkPageLimit(this.#db.store, query.limit)
    const before = seqOfCursor(this.#db.store, query.cursor)
    const rows = await this.#reads.list(query, before)
    const jobs = rows.slice(0, query.limit).map(readJob)
    return rows.length > query.limit ? { jobs, cursor: cursorAfter(rows[query.limit - 1]!.seq) } : { jobs }
  }

  async *open(): AsyncGenerator<StoredJob> {
    for (let after = 0; ; ) {
      this.#mustBeOpen()
      const rows = await this.#reads.open(after)
      if (rows.length === 0) return
      yield* rows.map(readJob)
      after = rows.at(-1)!.seq
    }
  }

  async waitingWebhooks(limit: number): Promise<StoredJob[]> {
    this.#mustBeOpen()
    checkPageLimit(this.#db.store, limit)
    return (await this.#reads.webhooks(limit)).map(readJob)
  }

  async disabledWebhooks(now: number): Promise<Map<string, number>> {
    this.#mustBeOpen()
    return disabledWebhooks(this.#db, now)
  }

  async sharedSecret(proposal: string): Promise<string | undefined> {
    await this.#write(() => this.#db.write(addSecret, [proposal]))
    return secretOf(this.#db)
  }

  sweep(epoch: number, now: number, retention: Retention): Promise<number> {
    return this.#write(() => sweep(this.#db, this.#reads, { epoch, now, retention }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#begun)
    await this.#batches.idle()
    await Promise.all(Object.values(this.#databases).map((each: Database) => each.close()))
  }

  /** Errors of the server become errors of the store; those of a content are passed on. */
  async #write<T>(write: () => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    const begun = write()
    this.#begun.add(begun)
    try {
      return await begun
    } catch (error) {
      throw isRejected(error) ? explainError(error, this.#db.store, true) : error
    } finally {
      this.#begun.delete(begun)
    }
  }

  #mustBeOpen(): void {
    if (this.#closing) throw isClosed(this.#db.store)
  }

  /** If whether the row was written is unknown, the content stays: the next leader decides. */
  async #dropUnlessWritten<T>(epoch: number, content: Place, written: Promise<T>): Promise<T> {
    try {
      return await written
    } catch (error) {
      const isUnknown = error instanceof StoreError && error.code === 'STORE_UNKNOWN'
      if (!isUnknown) await drop(this.#db, epoch, content)
      throw error
    }
  }

  /** A job that was accepted before, with a content of its own, needs no second one. */
  async #dropUnlessOwned(epoch: number, id: string, body: Place): Promise<Acceptance> {
    if (body.content !== undefined && (await this.#reads.body(id))?.chunks !== body.content)
      await drop(this.#db, epoch, body)
    return { kind: 'accepted' }
  }
}
