/**
 * What a store of durable jobs promises. A write whose promise has resolved survives the death of every process and of the
 * machine. The brain schedules from memory; the store is its log and its archive.
 */

/** A header field as it was sent, in order. */
export type Field = readonly [name: string, value: string]

/** Bytes in memory, or as they arrive. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>

/** The request of a durable job, as its client sent it. */
export interface StoredRequest {
  method: string
  /** Path and query. */
  target: string
  fields: readonly Field[]
  body: Content
}

export interface NewJob {
  /** Drawn by the caller; nobody can guess it. */
  id: string
  workload: string
  client: string
  request: StoredRequest
  /** Milliseconds since 1970. */
  acceptedAt: number
  /** What was expected when the job was accepted, for its document. */
  quote: unknown
  /** False: it must not run again once an attempt may have started. */
  isRepeatable: boolean
  /** A repeat with the same key of the same client is the same job, if its request has the same fingerprint. */
  idempotency?: { key: string; fingerprint: string }
  webhook?: string
}

/** `open`: it has no answer yet. `cancelled`: it will have none. */
export type JobState = 'open' | 'answered' | 'cancelled'

export interface StoredJob {
  id: string
  workload: string
  client: string
  acceptedAt: number
  quote: unknown
  method: string
  target: string
  fields: readonly Field[]
  bodyBytes: number
  idempotencyKey?: string
  isRepeatable: boolean
  /** When an attempt may have started; noted only for jobs that are not repeatable. */
  startedAt?: number
  state: JobState
  /** When it was answered or cancelled. */
  endedAt?: number
  answer?: { status: number; bytes: number; isKept: boolean }
  webhook?: Webhook
  /** What is known of a job that has ended: attempts, work, price. */
  facts?: unknown
}

export interface Webhook {
  url: string
  state: 'waiting' | 'delivered' | 'disabled' | 'given-up'
  tries: number
  /**
   * When it is tried next; of a disabled one, until when its URL gets no messages. Undefined: its job has not ended, which
   * makes it due, or it is done with.
   */
  dueAt?: number
  /** Why the last try failed. */
  problem?: string
}

export type Acceptance =
  | { kind: 'accepted' }
  /** The key was used before, by the same request of the same client. */
  | { kind: 'repeated'; job: StoredJob }
  /** The key was used before, by another request of the same client. */
  | { kind: 'conflict'; job: StoredJob }

export interface Answer {
  status: number
  fields: readonly Field[]
  body: Content
  endedAt: number
  facts?: unknown
}

export interface KeptAnswer {
  status: number
  fields: readonly Field[]
  bytes: number
  body: AsyncIterable<Uint8Array>
}

export interface JobQuery {
  state?: JobState
  workload?: string
  client?: string
  /** Of the page before. */
  cursor?: string
  limit: number
}

export interface JobPage {
  /** The newest first. */
  jobs: StoredJob[]
  /** Undefined: this was the last page. */
  cursor?: string
}

/** The body of a request is kept while its job is open, and afterwards as long as its result. */
export interface Retention {
  /** How long results are kept after the ends of their jobs. */
  keepMs: number
  /** All kept results, and the bodies of jobs that have ended, together; the oldest are removed first. */
  keepBytes: number
  /**
   * How long jobs are remembered after their ends, so that they are told from unknown ones, and how long their idempotency
   * keys count. Jobs whose results are kept or whose webhooks wait are remembered longer.
   */
  rememberMs: number
  /**
   * How many jobs are remembered after their ends, and the space of their rows. Above either limit the jobs that ended first
   * are forgotten, with their results, keys and waiting webhooks.
   */
  rememberJobs: number
  rememberBytes: number
}

/** A leader's right to write. It lasts until another leader begins, even beyond its time. Rejections are `StoreError`s. */
export interface Lease {
  /** Grows with every leader. Writes of an older one are rejected with the code `STORE_FENCED`, whatever any clock says. */
  readonly epoch: number
  /** Resolves with false if another leader has begun. */
  renew(ttlMs: number): Promise<boolean>
  /** Lets another leader begin at once. */
  release(): Promise<void>
}

export interface JobStore {
  /**
   * Resolves with undefined while another leader's lease lasts; by the store's clock, not the caller's. The same holder may
   * begin again at once, with a newer epoch. A store that only one process can open also ends the leases of processes
   * before it.
   */
  lead(holder: string, ttlMs: number): Promise<Lease | undefined>

  /**
   * Reads the body even if the job is not accepted. An accept that failed with the code `STORE_UNKNOWN` may be repeated with
   * the same id: then it resolves with `accepted` whether or not the first one was written.
   */
  accept(epoch: number, job: NewJob): Promise<Acceptance>
  /** Resolves with false if the job has ended before, or is unknown: the first end counts. */
  answer(epoch: number, id: string, answer: Answer): Promise<boolean>
  /** As `answer`. */
  cancel(epoch: number, id: string, endedAt: number, facts?: unknown): Promise<boolean>
  /** An attempt may start from now on. Does nothing if the job is unknown. */
  noteStarted(epoch: number, id: string, startedAt: number): Promise<void>
  /** Does nothing if the job is unknown. */
  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void>

  job(id: string): Promise<StoredJob | undefined>
  /** The job that this client has accepted with this key, while the key is remembered. */
  byKey(client: string, key: string): Promise<StoredJob | undefined>
  /** Undefined: the job is unknown, or has ended and its body is not kept any more. */
  body(id: string): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Undefined: there is none, or it is not kept any more. */
  result(id: string): Promise<KeptAnswer | undefined>
  /** Rejects if the cursor is not one of a page, or the limit not from 1 to 10,000. */
  list(query: JobQuery): Promise<JobPage>
  /** Jobs without an end, in the order of acceptance. */
  open(): AsyncIterable<StoredJob>
  /** Jobs that have ended and whose webhooks wait, the next one due first. */
  waitingWebhooks(limit: number): Promise<StoredJob[]>
  /** URLs whose webhooks are disabled beyond this time, and until when. */
  disabledWebhooks(now: number): Promise<Map<string, number>>
  /**
   * A secret that all clusters with this store have: the first one that was proposed. Undefined: no other cluster can use
   * the store.
   */
  sharedSecret(proposal: string): Promise<string | undefined>
  /** Removes what is not to be kept, in small steps. Resolves with the number of removed results. */
  sweep(epoch: number, now: number, retention: Retention): Promise<number>
  /** Waits for writes that have begun. Later calls reject. */
  close(): Promise<void>
}
