/** Tells receivers that their jobs have ended: each is told until it confirms, for a day. */

import { StoreError } from '../../lib/errors.ts'
import type { JobStore, StoredJob, Webhook } from '../../store/store.ts'
import { documentOf, type JobDocument } from '../documents.ts'
import { isFenced } from '../until-known.ts'
import { InnerAddress, postMessage } from './post.ts'
import { sign } from './signature.ts'

export interface DeliveriesParts {
  store: Pick<JobStore, 'waitingWebhooks' | 'noteWebhook' | 'disabledWebhooks'>
  epoch: number
  hosts: readonly string[]
  secret: string
  now(): number
  /** From 0 to 1. */
  random(): number
  log(line: string): void
  post?: typeof postMessage
}

export interface JobMessage {
  type: 'job.answered' | 'job.cancelled'
  timestamp: string
  data: JobDocument
}

/** After each failure the receiver is left alone for longer; after a day it is given up. */
const [firstMs, mostMs, giveUpMs] = [5_000, 3_600_000, 24 * 3_600_000]
/** A URL that answers 410 gets no messages for this time. */
const disabledMs = 24 * 3_600_000
/** How often due messages are looked for, and how many are sent at a time. */
const [lookMs, mostAtATime] = [1_000, 32]

export class Deliveries {
  readonly #parts: DeliveriesParts
  /** How deliveries ended that the store has not noted yet, by job: a receiver is not told again because of the store. */
  readonly #unnoted = new Map<string, Webhook>()
  /** Until when URLs get no messages. Undefined: not read yet. */
  #disabled: Map<string, number> | undefined
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #closed = false

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
  }

  start(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#looking = this.look()
        .catch((error) => {
          // The keeper reports that its store fails.
          if (!(error instanceof StoreError))
            this.#parts.log(`keeper: internal error: ${(error as Error).stack}`)
        })
        .finally(() => this.start())
    }, lookMs)
  }

  /** Sends what is due. */
  async look(): Promise<void> {
    const { store, now } = this.#parts
    const waiting = await store.waitingWebhooks(mostAtATime)
    this.#disabled ??= await store.disabledWebhooks(now())
    if (this.#closed) return
    const due = waiting.filter(({ webhook }) => this.#isDue(webhook))
    const ends = await Promise.allSettled(due.map((job) => this.#deliver(job, job.webhook!)))
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    // Another keeper leads, and sends them.
    if (failures.some(isFenced)) this.#closed = true
    if (failures.length > 0) throw failures[0]
  }

  /** A wait that is too long for its number of tries shows that the clock was set back. */
  #isDue(webhook: Webhook | undefined): boolean {
    if (webhook?.dueAt === undefined) return false
    const leftMs = webhook.dueAt - this.#parts.now()
    return leftMs <= 0 || leftMs > longestWaitMs(webhook.tries)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #deliver(job: StoredJob, webhook: Webhook): Promise<void> {
    const { store, epoch } = this.#parts
    const next = this.#unnoted.get(job.id) ?? this.#unwanted(webhook) ?? (await this.#tell(job, webhook))
    this.#unnoted.set(job.id, next)
    await store.noteWebhook(epoch, job.id, next)
    this.#unnoted.delete(job.id)
  }

  /** How the delivery to a disabled URL ends; undefined: it is not disabled. */
  #unwanted({ url, tries }: Webhook): Webhook | undefined {
    const leftMs = (this.#disabled?.get(url) ?? 0) - this.#parts.now()
    // A longer time shows that the clock was set back.
    if (leftMs > 0 && leftMs <= disabledMs)
      return { url, state: 'disabled', tries, problem: 'its receiver answered another message with 410' }
    this.#disabled?.delete(url)
    return undefined
  }

  /** Sends the message once. */
  async #tell(job: StoredJob, webhook: Webhook): Promise<Webhook> {
    const { hosts, secret, now, log, post = postMessage } = this.#parts
    const message: JobMessage = {
      type: job.state === 'cancelled' ? 'job.cancelled' : 'job.answered',
      timestamp: new Date(job.endedAt ?? now()).toISOString(),
      data: documentOf(job, { now: now() }),
    }
    const body = JSON.stringify(message)
    const fields = { ...sign(secret, `msg_${job.id}`, now(), body) }
    let problem: string | undefined
    let status = 0
    let isHopeless = false
    try {
      status = await post({ url: webhook.url, fields, body, hosts })
      if (status < 200 || status > 299) problem = `it answered ${status}`
    } catch (error) {
      isHopeless = error instanceof InnerAddress
      problem = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    }
    const next = this.#after(job, webhook, { status, problem, isHopeless })
    if (next.state === 'disabled' || next.state === 'given-up')
      log(
        next.state === 'disabled'
          ? `keeper: ${new URL(webhook.url).host} gets no more webhooks of this URL for a day (job ${job.id}): ${problem}`
          : `keeper: the webhook of job ${job.id} is given up: ${problem}`,
      )
    return next
  }

  #after(
    { endedAt = 0 }: StoredJob,
    { url, tries: before }: Webhook,
    { status, problem, isHopeless }: { status: number; problem: string | undefined; isHopeless: boolean },
  ): Webhook {
    const { now, random } = this.#parts
    const tries = before + 1
    if (problem === undefined) return { url, state: 'delivered', tries }
    // The receiver wants no more messages (Standard Webhooks).
    if (status === 410) {
      const dueAt = now() + disabledMs
      this.#disabled?.set(url, dueAt)
      return { url, state: 'disabled', tries, dueAt, problem }
    }
    if (isHopeless || now() - endedAt > giveUpMs) return { url, state: 'given-up', tries, problem }
    const waitMs = longestWaitMs(tries) * (0.6 + random() * 0.4)
    return { url, state: 'waiting', tries, dueAt: now() + waitMs, problem }
  }
}

/** After this number of failures. */
function longestWaitMs(tries: number): number {
  return tries === 0 ? 0 : Math.min(mostMs, firstMs * 2 ** Math.min(tries - 1, 20)) * 1.25
}
