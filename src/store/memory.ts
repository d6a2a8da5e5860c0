/** A store in memory, for simulations and tests: it keeps every promise of a store but durability. */
import { takeIn } from './content.ts'
import { checkPageLimit, cursorAfter, endOfExcess, excessOf, seqOfCursor } from './queries.ts'
import {
  acceptedRow,
  answerRow,
  cancelRow,
  type EndRow,
  fenced,
  idTaken,
  isClosed,
  isSameJob,
  type JobRow,
  readJob,
  rowBytesOf,
} from './rows.ts'
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

export interface MemoryJobsOptions {
  /** Milliseconds; leases go by it. */
  now?: () => number
}

interface Entry {
  row: JobRow
  /** Of a job that has ended. */
  rowBytes: number
  /** Undefined: removed. */
  body: Uint8Array | undefined
  result: { fields: readonly Field[]; bytes: Uint8Array } | undefined
}

const name = 'job store in memory'

export class MemoryJobStore implements JobStore {
  readonly #now: () => number
  /** In the order of acceptance. */
  readonly #entries = new Map<string, Entry>()
  readonly #byKey = new Map<string, JobRow>()
  readonly #leader = { epoch: 0, holder: '', until: -Infinity }
  #lastSeq = 0
  #secret: string | undefined
  #isClosed = false

  constructor({ now = Date.now }: MemoryJobsOptions = {}) {
    this.#now = now
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    this.#mustBeOpen()
    const leader = this.#leader
    if (this.#now() < leader.until && leader.holder !== holder) return undefined
    const epoch = leader.epoch + 1
    Object.assign(leader, { epoch, holder, until: this.#now() + ttlMs })
    return {
      epoch,
      renew: async (ttlMs) => {
        if (leader.epoch !== epoch) return false
        leader.until = this.#now() + ttlMs
        return true
      },
      release: async () => {
        if (leader.epoch === epoch) Object.assign(leader, { holder: '', until: -Infinity })
      },
    }
  }

  async accept(epoch: number, job: NewJob): Promise<Acceptance> {
    const body = await wholeOf(job.request.body)
    this.#mayWrite(epoch)
    const accepted = acceptedRow(job, body.length)
    const { idempotency_key: key, client } = accepted
    const found = key === null ? undefined : this.#byKey.get(keyOf(client, key))
    if (found && found.id !== job.id) {
      const kind = found.fingerprint === accepted.fingerprint ? 'repeated' : 'conflict'
      return { kind, job: readJob(found) }
    }
    const existing = this.#entries.get(job.id)
    if (existing && !isSameJob(existing.row, accepted)) throw idTaken(name, job.id)
    if (existing) return { kind: 'accepted' }
    const row: JobRow = {
      ...accepted,
      ...{
        seq: ++this.#lastSeq,
        state: 'open',
        started_at: null,
        ended_at: null,
        status: null,
        result_bytes: null,
      },
      ...{ result_kept: 0, facts: null, webhook_tries: 0, webhook_due: null, webhook_problem: null },
    }
    this.#entries.set(job.id, { row, rowBytes: 0, body, result: undefined })
    if (key !== null) this.#byKey.set(keyOf(client, key), row)
    return { kind: 'accepted' }
  }

  async answer(epoch: number, id: string, answer: Answer): Promise<boolean> {
    const bytes = await wholeOf(answer.body)
    return this.#end(epoch, answerRow(id, answer, bytes.length), {
      fields: structuredClone(answer.fields),
      bytes,
    })
  }

  async cancel(epoch: number, id: string, endedAt: number, facts?: unknown): Promise<boolean> {
    return this.#end(epoch, cancelRow(id, endedAt, facts), undefined)
  }

  #end(epoch: number, end: EndRow, result: Entry['result']): boolean {
    this.#mayWrite(epoch)
    const entry = this.#entries.get(end.id)
    if (entry?.row.state !== 'open') return false
    const { row } = entry
    const { state, ended_at, status, result_bytes, facts } = end
    Object.assign(row, { state, ended_at, status, result_bytes, facts, result_kept: result ? 1 : 0 })
    if (row.webhook_url !== null) row.webhook_due = ended_at
    entry.result = result
    entry.rowBytes = rowBytesOf(row, end)
    return true
  }

  async noteStarted(epoch: number, id: string, startedAt: number): Promise<void> {
    this.#mayWrite(epoch)
    const row = this.#entries.get(id)?.row
    if (row) row.started_at = startedAt
  }

  async noteWebhook(
    epoch: number,
    id: string,
    { url, state, tries, dueAt, problem }: Webhook,
  ): Promise<void> {
    this.#mayWrite(epoch)
    const row = this.#entries.get(id)?.row
    if (!row) return
    Object.assign(row, { webhook_url: url, webhook_state: state, webhook_tries: tries })
    Object.assign(row, { webhook_due: dueAt ?? null, webhook_problem: problem ?? null })
  }

  async job(id: string): Promise<StoredJob | undefined> {
    this.#mustBeOpen()
    const entry = this.#entries.get(id)
    return entry && readJob(entry.row)
  }

  async byKey(client: string, key: string): Promise<StoredJob | undefined> {
    this.#mustBeOpen()
    const row = this.#byKey.get(keyOf(client, key))
    return row && readJob(row)
  }

  async body(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    this.#mustBeOpen()
    const bytes = this.#entries.get(id)?.body
    return bytes && bytesOf(bytes)
  }

  async result(id: string): Promise<KeptAnswer | undefined> {
    this.#mustBeOpen()
    const { row, result } = this.#entries.get(id) ?? {}
    if (!row || !result) return undefined
    return {
      status: row.status!,
      fields: result.fields,
      bytes: result.bytes.length,
      body: bytesOf(result.bytes),
    }
  }

  async list(query: JobQuery): Promise<JobPage> {
    this.#mustBeOpen()
    checkPageLimit(name, query.limit)
    const before = seqOfCursor(name, query.cursor) ?? Infinity
    const { state, workload, client, limit } = query
    const rows = this.#rows()
      .filter((row) => row.seq < before)
      .filter((row) => state === undefined || row.state === state)
      .filter((row) => workload === undefined || row.workload === workload)
      .filter((row) => client === undefined || row.client === client)
      .toReversed()
    const jobs = rows.slice(0, limit).map(readJob)
    return rows.length > limit ? { jobs, cursor: cursorAfter(rows[limit - 1]!.seq) } : { jobs }
  }

  async *open(): AsyncGenerator<StoredJob> {
    this.#mustBeOpen()
    for (const row of this.#rows()) if (row.state === 'open') yield readJob(row)
  }

  async waitingWebhooks(limit: number): Promise<StoredJob[]> {
    this.#mustBeOpen()
    checkPageLimit(name, limit)
    const waiting = this.#rows().filter((row) => row.webhook_state === 'waiting' && row.webhook_due !== null)
    return waiting
      .sort((a, b) => a.webhook_due! - b.webhook_due!)
      .slice(0, limit)
      .map(readJob)
  }

  async disabledWebhooks(now: number): Promise<Map<string, number>> {
    this.#mustBeOpen()
    const disabled = this.#rows().filter((row) => row.webhook_state === 'disabled' && row.webhook_due! > now)
    disabled.sort((a, b) => a.webhook_due! - b.webhook_due!)
    return new Map(disabled.map((row) => [row.webhook_url!, row.webhook_due!]))
  }

  async sharedSecret(proposal: string): Promise<string> {
    this.#mustBeOpen()
    this.#secret ??= proposal
    return this.#secret
  }

  async sweep(epoch: number, now: number, retention: Retention): Promise<number> {
    this.#mayWrite(epoch)
    const { keepMs, keepBytes, rememberMs } = retention
    let removed = this.#forgetExcess(retention)
    let bytes = 0
    for (const entry of this.#oldestEnded().reverse()) {
      const { row } = entry
      if (entry.body) bytes += row.body_bytes + (row.result_bytes ?? 0)
      if (entry.body && (bytes > keepBytes || row.ended_at! < now - keepMs)) {
        removed += row.result_kept
        row.result_kept = 0
        entry.body = undefined
        entry.result = undefined
      }
      const isWaiting = row.webhook_state === 'waiting'
      if (!entry.body && !isWaiting && row.ended_at! < now - rememberMs) this.#forget(row)
    }
    return removed
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  /** Forgets the oldest jobs above the limits. Returns the number of results that were kept of them. */
  #forgetExcess(retention: Retention): number {
    const ended = this.#oldestEnded()
    const bytes = ended.reduce((sum, { rowBytes }) => sum + rowBytes, 0)
    const excess = excessOf({ jobs: ended.length, bytes }, retention)
    if (!excess) return 0
    const sized = ended.map(({ row, rowBytes: bytes }) => ({ endedAt: row.ended_at!, seq: row.seq, bytes }))
    const { seq: last } = endOfExcess(sized, excess)
    const forgotten = ended.slice(0, ended.findIndex(({ row }) => row.seq === last) + 1)
    for (const { row } of forgotten) this.#forget(row)
    return forgotten.filter(({ row }) => row.result_kept === 1).length
  }

  #oldestEnded(): Entry[] {
    const ended = [...this.#entries.values()].filter(({ row }) => row.ended_at !== null)
    return ended.sort((a, b) => a.row.ended_at! - b.row.ended_at! || a.row.seq - b.row.seq)
  }

  #forget(row: JobRow): void {
    this.#entries.delete(row.id)
    if (row.idempotency_key !== null) this.#byKey.delete(keyOf(row.client, row.idempotency_key))
  }

  #rows(): JobRow[] {
    return Array.from(this.#entries.values(), ({ row }) => row)
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw isClosed(name)
  }

  #mayWrite(epoch: number): void {
    this.#mustBeOpen()
    if (epoch !== this.#leader.epoch) throw fenced(name, epoch, this.#leader.epoch)
  }
}

function keyOf(client: string, key: string): string {
  return JSON.stringify([client, key])
}

async function wholeOf(content: Content): Promise<Uint8Array> {
  const taken = await takeIn(content, Infinity)
  return 'bytes' in taken ? new Uint8Array(taken.bytes) : new Uint8Array()
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes.slice()
}
