/**
 * Keeps accepted requests until they are answered: stores each before it is accepted, sends it to a front, and stores its
 * answer. What it holds in memory is read from the store again when it starts.
 */

import { StoreError, stackOf } from '../lib/errors.ts'
import { Outage } from '../lib/outage.ts'
import type { Content, StoredJob } from '../store/store.ts'
import type { KeepOrder } from '../wire/kept.ts'
import { acceptJob, findAccepted, jobOf } from './accept-job.ts'
import { discard, factsOf, heldAnswer, unknownOutcome } from './answers.ts'
import { Etas, endOf } from './eta.ts'
import type { KeeperParts, Kept } from './keeper-parts.ts'
import { newKeptId } from './kept-id.ts'
import { type OpenJob, OpenJobs } from './open-jobs.ts'
import { knownBytes, requestBytes } from './quota.ts'
import { isPassing, retryDelayMs } from './refusals.ts'
import { isUnreached, type JobResponse, type SendParts, sendJob } from './send-job.ts'
import { Timers } from './timers.ts'
import { isFenced, isUnknown, untilKnown } from './until-known.ts'

/** How often results that are kept long enough are looked for. */
const sweepMs = 60_000
/** Without a front that it can reach, or without a lease, a job waits this long. */
const noFrontMs = 200

export class Keeper {
  readonly #parts: KeeperParts
  readonly #jobs: OpenJobs
  readonly #store: Outage
  readonly #timers = new Timers()
  readonly #etas = new Etas()
  #sent = 0
  #turn = 0
  #closed = false

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#jobs = new OpenJobs(parts.limits, () => parts.cores())
    const words = {
      failed: (why: string) => `keeper: the store fails, and jobs wait: ${why}`,
      works: () => 'keeper: the store works again',
    }
    this.#store = new Outage(words, parts.log)
  }

  /** Reads the jobs that are open, and goes on with them. */
  async start(): Promise<void> {
    const { store, log } = this.#parts
    let count = 0
    for await (const job of store.open()) {
      count++
      this.#resume(job)
    }
    if (count > 0) log(`keeper: goes on with ${count} ${count === 1 ? 'job' : 'jobs'}`)
    this.#timers.every(sweepMs, () => this.#sweep())
    this.#fill()
  }

  #resume(job: StoredJob): void {
    const { store, epoch, now } = this.#parts
    const open = this.#jobs.add(job, requestBytes(job, job.bodyBytes))
    if (job.isRepeatable || job.startedAt === undefined) this.#jobs.wait(open)
    // Whether its attempt had an effect died with the keeper before.
    else void this.#end(open, () => store.answer(epoch, job.id, { ...unknownOutcome(), endedAt: now() }))
  }

  /**
   * Resolves when the job is durable, or known already. Undefined: its key belongs to another request. Rejects with a
   * KeeperProblem if too many jobs are open. `bodyBytes`: of a body that arrives in parts.
   */
  async keep(order: KeepOrder, body: Content, bodyBytes = knownBytes(body)): Promise<Kept | undefined> {
    const { store, epoch, now } = this.#parts
    const { client, idempotency } = order
    const bytes = requestBytes(order, bodyBytes)
    const refusal = this.#jobs.refusal(client, bytes)
    // A repeat adds nothing.
    if (refusal && !(idempotency && (await store.byKey(client, idempotency.key)))) throw refusal
    const id = newKeptId(now())
    const aheadS = this.#jobs.waitingS === 0 ? 0 : this.#jobs.waitingS / this.#parts.cores()
    const quote = this.#etas.accepted(id, order.quote, { now: now(), aheadS })
    const job = jobOf(order, body, { id, quote, acceptedAt: now() })
    // A repeat may find it in the store before this call goes on.
    const open = this.#jobs.add(job, bytes)
    const pause = (ms: number) => this.#timers.pause(ms)
    const acceptance = await this.#try(() => acceptJob(store, epoch, job, pause)).catch((error) => {
      if (isUnknown(error)) this.#lookFor(open)
      else this.#over(open)
      throw error
    })
    if (acceptance.kind !== 'accepted') this.#over(open)
    if (acceptance.kind === 'conflict') return undefined
    if (acceptance.kind === 'repeated') {
      const { id: first, state } = acceptance.job
      if (state === 'open' && !this.#jobs.get(first)) this.#resume(acceptance.job)
      this.#fill()
      return { id: first, endsAt: endOf(acceptance.job), isRepeat: true, ended: () => this.ended(first) }
    }
    this.#jobs.wait(open)
    this.#fill()
    return { id, endsAt: endOf(job), isRepeat: false, ended: () => this.ended(id) }
  }

  /** Its client was told that the store fails. If the job is stored nevertheless, it runs. */
  #lookFor(open: OpenJob): void {
    findAccepted(this.#parts.store, open.id, this.#timers, (isStored) => {
      if (!isStored) return this.#over(open)
      this.#jobs.wait(open)
      this.#fill()
    })
  }

  /** Resolves when the job has ended; at once if it is not open, or nobody waits any longer. */
  ended(id: string): Promise<void> {
    return this.#closed ? Promise.resolve() : this.#jobs.ended(id)
  }

  /** What only the keeper knows of an open job. */
  standing(id: string): OpenJob | undefined {
    return this.#jobs.get(id)
  }

  /** Resolves with false if the job has ended before. */
  async cancel(id: string, facts: unknown): Promise<boolean> {
    const { store, epoch, now } = this.#parts
    const open = this.#jobs.get(id)
    const cancel = () => store.cancel(epoch, id, now(), facts)
    const isFirst = await this.#try(() => untilKnown(cancel, (ms) => this.#timers.pause(ms)))
    // Its client has left, as the cluster sees it: the process is ended.
    open?.abort?.abort()
    if (open) this.#over(open)
    return isFirst
  }

  /** Jobs that are sent are cut off; they are sent again by the next keeper. Nobody waits for an end any longer. */
  close(): void {
    this.#closed = true
    this.#timers.close()
    for (const { abort } of this.#jobs.all()) abort?.abort()
    this.#jobs.stopWaiting()
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
    const { store, epoch, now, leads } = this.#parts
    const abort = new AbortController()
    open.abort = abort
    let began = false
    let response: JobResponse
    try {
      const job = await store.job(open.id)
      if (this.#isOver(open)) return
      if (!job) throw new StoreError(`job ${open.id} is gone from the store`)
      // The store did not know whether it had noted the end.
      if (job.state !== 'open') return this.#over(open)
      const port = this.#front()
      if (port === undefined) return this.#later(open, noFrontMs)
      if (!open.isRepeatable) await store.noteStarted(epoch, open.id, now())
      const body = job.bodyBytes > 0 ? await store.body(open.id) : undefined
      this.#store.works()
      if (this.#isOver(open)) return
      // The store may have taken long, or this process was stopped.
      if (leads?.() === false) return this.#later(open, noFrontMs)
      began = true
      response = await this.#send(open, { job, body, port, signal: abort.signal })
    } catch (error) {
      if (!began && error instanceof StoreError) this.#storeFailed(error)
      return this.#cutOff(open, began && !isUnreached(error))
    }
    if (response.refusal !== undefined && isPassing(response.refusal)) {
      open.waitsFor = response.refusal
      await discard(response.body)
      return this.#later(open, retryDelayMs(open.tries, response.retryAfter, this.#parts.random()))
    }
    await this.#answered(open, response)
  }

  #send(open: OpenJob, parts: Pick<SendParts, 'job' | 'body' | 'port' | 'signal'>): Promise<JobResponse> {
    const { token, send = sendJob } = this.#parts
    open.tries++
    delete open.waitsFor
    const onJob = (id: string) => {
      open.job = id
    }
    return send({ ...parts, token, onJob })
  }

  async #answered(open: OpenJob, { status, fields, body }: JobResponse): Promise<void> {
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
    this.#etas.ended(open.id, answer.endedAt)
    if (content instanceof Uint8Array) return this.#end(open, () => store.answer(epoch, open.id, answer))
    try {
      await store.answer(epoch, open.id, answer)
      this.#store.works()
      this.#over(open)
    } catch (error) {
      if (error instanceof StoreError) this.#storeFailed(error)
      // It was long, and is gone; what of it was not read must not keep the connection open.
      open.abort?.abort()
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
  async #end(open: OpenJob, note: () => Promise<unknown>, tries = 0): Promise<void> {
    try {
      await note()
      this.#store.works()
      this.#over(open)
    } catch (error) {
      this.#storeFailed(error)
      const ms = retryDelayMs(tries, undefined, this.#parts.random())
      this.#timers.after(ms, () => void this.#end(open, note, tries + 1))
    }
  }

  #later(open: OpenJob, ms: number): void {
    delete open.abort
    delete open.job
    this.#timers.after(ms, () => {
      if (this.#isOver(open)) return
      this.#jobs.wait(open)
      this.#fill()
    })
  }

  #over(open: OpenJob): void {
    this.#jobs.end(open)
    this.#etas.ended(open.id, this.#parts.now(), false)
  }

  /** It was cancelled, or the keeper closes. */
  #isOver(open: OpenJob): boolean {
    return this.#closed || this.#jobs.get(open.id) !== open
  }

  #front(): number | undefined {
    if (this.#parts.leads?.() === false) return undefined
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
    if (!isFenced(error)) return this.#store.failed((error as Error).message)
    // The other keeper sends its jobs now.
    this.close()
    this.#parts.fenced()
  }

  async #sweep(): Promise<void> {
    const { store, epoch, now, retention } = this.#parts
    await this.#try(() => store.sweep(epoch, now(), retention)).catch(() => {})
  }
}
