/**
 * Keeps accepted requests until they are answered: stores each before it is accepted, sends it to a front, and stores its
 * answer. What it holds in memory is read from the store again when it starts.
 */

import { StoreError, stackOf } from '../lib/errors.ts'
import { Outage } from '../lib/outage.ts'
import type { Content, JobStore, Retention, StoredJob } from '../store/store.ts'
import type { KeepOrder } from '../wire/kept.ts'
import { discard, factsOf, heldAnswer, unknownOutcome } from './answers.ts'
import { Etas } from './eta.ts'
import { newKeptId } from './kept-id.ts'
import { type OpenJob, OpenJobs } from './open-jobs.ts'
import { isPassing, retryDelayMs } from './refusals.ts'
import { type JobResponse, sendJob } from './send-job.ts'

export interface KeeperParts {
  store: JobStore
  epoch: number
  /** Ports of fronts for the keeper. */
  fronts(): readonly number[]
  /** Proves the keeper to fronts. */
  token: string
  /** How many jobs the cluster is given at a time; the others wait here. */
  most: number
  /** Cores of the cluster. */
  cores(): number
  retention: Retention
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 to 1. */
  random(): number
  log(line: string): void
  /** Another keeper leads now: this one must end. */
  fenced(): void
  send?: typeof sendJob
}

export interface Kept {
  id: string
  /** Resolves when the job has an answer or is cancelled. */
  ended: Promise<void>
  /** True: an earlier request with the same key is this job. */
  isRepeat: boolean
}

/** How often results that are kept long enough are looked for. */
const sweepMs = 60_000
/** Without a front that it can reach, a job waits this long. */
const noFrontMs = 200

export class Keeper {
  readonly #parts: KeeperParts
  readonly #jobs = new OpenJobs()
  readonly #store: Outage
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #etas = new Etas()
  #sent = 0
  #turn = 0
  #closed = false

  constructor(parts: KeeperParts) {
    this.#parts = parts
    const words = {
      failed: (why: string) => `keeper: the store fails, and jobs wait: ${why}`,
      works: () => 'keeper: the store works again',
    }
    this.#store = new Outage(words, parts.log)
  }

  /** Reads the jobs that are open, and goes on with them. */
  async start(): Promise<void> {
    const { store, log, epoch, now } = this.#parts
    let count = 0
    for await (const job of store.open()) {
      count++
      const open = this.#jobs.add(job)
      if (job.isRepeatable || job.startedAt === undefined) this.#jobs.wait(open)
      // Whether its attempt had an effect died with the keeper before.
      else void this.#end(open, () => store.answer(epoch, job.id, { ...unknownOutcome(), endedAt: now() }))
    }
    if (count > 0) log(`keeper: goes on with ${count} ${count === 1 ? 'job' : 'jobs'}`)
    this.#sweepLater()
    this.#fill()
  }

  /** Resolves when the job is durable, or known already. Undefined: its key belongs to another request. */
  async keep(order: KeepOrder, body: Content): Promise<Kept | undefined> {
    const { store, epoch, now } = this.#parts
    const id = newKeptId(now())
    const { workload, client, isRepeatable, method, target, fields, idempotency, webhook } = order
    const aheadS = this.#jobs.waitingS === 0 ? 0 : this.#jobs.waitingS / this.#parts.cores()
    const quote = this.#etas.withEnds(order.quote, aheadS)
    const job = { id, workload, client, isRepeatable, quote, acceptedAt: now() }
    const request = { method, target, fields, body }
    // A repeat may find it in the store before this call goes on.
    const open = this.#jobs.add(job)
    const acceptance = await this.#try(() =>
      store.accept(epoch, {
        ...{ ...job, request },
        ...(idempotency && { idempotency }),
        ...(webhook !== undefined && { webhook }),
      }),
    ).catch((error) => {
      this.#jobs.end(open)
      throw error
    })
    if (acceptance.kind !== 'accepted') this.#jobs.end(open)
    if (acceptance.kind === 'conflict') return undefined
    if (acceptance.kind === 'repeated') {
      const { id: first } = acceptance.job
      return { id: first, ended: this.ended(first), isRepeat: true }
    }
    this.#jobs.wait(open)
    this.#fill()
    return { id, ended: open.ended.promise, isRepeat: false }
  }

  /** Resolves when the job has ended; at once if it is not open. */
  ended(id: string): Promise<void> {
    return this.#jobs.get(id)?.ended.promise ?? Promise.resolve()
  }

  /** What only the keeper knows of an open job. */
  standing(id: string): OpenJob | undefined {
    return this.#jobs.get(id)
  }

  /** Resolves with false if the job has ended before. */
  async cancel(id: string, facts: unknown): Promise<boolean> {
    const { store, epoch, now } = this.#parts
    const open = this.#jobs.get(id)
    const isFirst = await this.#try(() => store.cancel(epoch, id, now(), facts))
    // Its client has left, as the cluster sees it: the process is ended.
    if (isFirst) open?.abort?.abort()
    if (open) this.#jobs.end(open)
    return isFirst
  }

  /** Jobs that are sent are cut off; they are sent again by the next keeper. */
  close(): void {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    for (const { abort } of this.#jobs.all()) abort?.abort()
  }

  #fill(): void {
    while (!this.#closed && this.#sent < this.#parts.most) {
      const job = this.#jobs.next()
      if (!job) return
      this.#sent++
      void this.#run(job)
        .catch((error) => this.#parts.log(`keeper: internal error: job ${job.id}: ${stackOf(error)}`))
        .finally(() => {
          this.#sent--
          this.#fill()
        })
    }
  }

  async #run(open: OpenJob): Promise<void> {
    const { store, epoch, now } = this.#parts
    const abort = new AbortController()
    open.abort = abort
    let began = false
    let job: StoredJob | undefined
    let response: JobResponse
    try {
      job = await store.job(open.id)
      if (this.#isOver(open)) return
      if (!job) throw new StoreError(`job ${open.id} is gone from the store`)
      const port = this.#front()
      if (port === undefined) return this.#later(open, noFrontMs)
      if (!open.isRepeatable) await store.noteStarted(epoch, open.id, now())
      this.#store.works()
      began = true
      response = await this.#send(open, job, port)
    } catch (error) {
      if (!began && error instanceof StoreError) this.#storeFailed(error)
      return this.#cutOff(open, began)
    }
    if (response.refusal !== undefined && isPassing(response.refusal)) {
      open.waitsFor = response.refusal
      await discard(response.body)
      return this.#later(open, retryDelayMs(open.tries, response.retryAfter, this.#parts.random()))
    }
    await this.#answered(open, job, response)
  }

  async #send(open: OpenJob, job: StoredJob, port: number): Promise<JobResponse> {
    const { store, token, send = sendJob } = this.#parts
    open.tries++
    delete open.waitsFor
    const body = job.bodyBytes > 0 ? await store.body(open.id) : undefined
    const onJob = (id: string) => {
      open.job = id
    }
    return send({ port, token, job, body, signal: open.abort!.signal, onJob })
  }

  async #answered(open: OpenJob, job: StoredJob, { status, fields, body }: JobResponse): Promise<void> {
    const { store, epoch, now } = this.#parts
    const facts = factsOf(open, fields)
    let content: Content
    try {
      content = await heldAnswer(body)
    } catch {
      // A front or a worker has ended.
      return this.#cutOff(open, true)
    }
    const answer = { status, fields, body: content, endedAt: now(), facts }
    this.#etas.ended(job.quote, (answer.endedAt - job.acceptedAt) / 1000)
    if (content instanceof Uint8Array) return this.#end(open, () => store.answer(epoch, open.id, answer))
    try {
      await store.answer(epoch, open.id, answer)
      this.#store.works()
      this.#jobs.end(open)
    } catch (error) {
      if (error instanceof StoreError) this.#storeFailed(error)
      // It was long, and is gone.
      this.#cutOff(open, true)
    }
  }

  /** `began`: an attempt may have started. */
  #cutOff(open: OpenJob, began: boolean): void {
    if (this.#isOver(open)) return
    const { store, epoch, now, random } = this.#parts
    if (!began || open.isRepeatable) return this.#later(open, retryDelayMs(open.tries, undefined, random()))
    const answer = { ...unknownOutcome(), endedAt: now() }
    void this.#end(open, () => store.answer(epoch, open.id, answer))
  }

  /** Ends a job without sending it; tries until the store has noted it. */
  async #end(open: OpenJob, note: () => Promise<unknown>): Promise<void> {
    try {
      await note()
      this.#store.works()
      this.#jobs.end(open)
    } catch (error) {
      this.#storeFailed(error)
      this.#after(
        retryDelayMs(++open.tries, undefined, this.#parts.random()),
        () => void this.#end(open, note),
      )
    }
  }

  #later(open: OpenJob, ms: number): void {
    delete open.abort
    delete open.job
    this.#after(ms, () => {
      if (this.#isOver(open)) return
      this.#jobs.wait(open)
      this.#fill()
    })
  }

  /** It was cancelled, or the keeper closes. */
  #isOver(open: OpenJob): boolean {
    return this.#closed || this.#jobs.get(open.id) !== open
  }

  #front(): number | undefined {
    const ports = this.#parts.fronts()
    return ports[this.#turn++ % Math.max(1, ports.length)]
  }

  async #try<T>(write: () => Promise<T>): Promise<T> {
    try {
      const result = await write()
      this.#store.works()
      return result
    } catch (error) {
      this.#storeFailed(error)
      throw error
    }
  }

  #storeFailed(error: unknown): void {
    if (error instanceof StoreError && error.code === 'STORE_FENCED') return this.#parts.fenced()
    this.#store.failed((error as Error).message)
  }

  #sweepLater(): void {
    const { store, epoch, now, retention } = this.#parts
    const sweep = () => this.#try(() => store.sweep(epoch, now(), retention)).catch(() => {})
    this.#after(sweepMs, () => void sweep().finally(() => this.#sweepLater()))
  }

  #after(ms: number, then: () => void): void {
    if (this.#closed) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      then()
    }, ms)
    this.#timers.add(timer)
  }
}
