/** One client's request on its way through attempts to exactly one answer. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Question, Quote } from '../estimate/estimator.ts'
import type { Action, AttemptToken, Event, Job, Outcome, Precedence } from '../model.ts'
import { type AttemptHead, type AttemptOutcome, attemptPath, headers } from '../wire/messages.ts'
import { bearer } from '../wire/token.ts'
import { type Cost, costOf, fieldsOf } from './answer-head.ts'
import type { KeptBody } from './body.ts'
import { breakOff, RequestProblem, refusal, sendProblem } from './problem.ts'

/** Answers up to this size are delivered when the brain has agreed; longer ones are passed on as they come. */
const wholeBytes = 256 * 1024

/** Made once: without a reason each request would end with an exception of its own, and a trace of how it came. */
const notWanted = new Error('the attempt is not wanted any more')

/** A worker as a front reaches it. */
export interface Upstream {
  id: string
  dispatcher: Dispatcher
}

export interface ExchangeParts {
  job: Job
  /** What was asked about its cost, and what was said. */
  question: Question
  quote: Quote
  /** As the client sent them. */
  params: Record<string, unknown>
  body: KeptBody
  /** False: the body held parameters, and is not for the workload. */
  sendBody: boolean
  request: IncomingMessage
  response: ServerResponse
  token: string
  estimateMs: number
  /** A client that takes nothing of its answer for so long is cut off. */
  stallMs: number
  tell(event: Event): void
  /** The exchange is over, one way or the other. */
  over(exchange: Exchange): void
}

/** An answer of the workload that is complete, or has begun. */
interface Answer {
  status: number
  fields: Record<string, string>
  whole: Buffer | undefined
}

export class Exchange {
  readonly parts: ExchangeParts
  readonly startedAt = Date.now()
  readonly #arrived = performance.now()
  #sent = 0
  #ended = 0
  #current: { token: AttemptToken; upstream: Upstream; abort: AbortController } | undefined
  #answer: Answer | undefined
  #failure: { message: string; status: number } | undefined
  #streaming = false
  #done = false
  attempts = 0
  /** How it ended for the client, once it is over. */
  outcome: Outcome = 'unknown'
  cost: Cost | undefined
  worker = ''

  constructor(parts: ExchangeParts) {
    this.parts = parts
    parts.response.on('close', () => this.#clientClosed())
  }

  /** Sends an attempt to a worker; an earlier one is let go. */
  async run(token: AttemptToken, upstream: Upstream, precedence?: Precedence): Promise<void> {
    this.#current?.abort.abort(notWanted)
    if (this.#streaming) return this.#breakOff()
    const current = { token, upstream, abort: new AbortController() }
    const head = this.#head(token, precedence)
    this.#current = current
    this.#sent = performance.now()
    this.attempts = token.attempt
    this.worker = upstream.id
    const isCurrent = () => this.#current === current && !this.#done
    try {
      const response = await upstream.dispatcher.request({
        method: 'POST',
        path: attemptPath,
        headers: this.#headers(head),
        body: this.#bodyOf(head),
        signal: current.abort.signal,
      })
      if (isCurrent()) await this.#receive(response, current.token, isCurrent)
      else response.body.destroy()
    } catch (error) {
      if (!isCurrent()) return
      if (this.#streaming) return this.#breakOff()
      const message = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      this.#tellFailed('unreachable', message)
    }
  }

  /** The worker of the current attempt is gone, or the attempt is not wanted any more. */
  letGo(): void {
    this.#current?.abort.abort(notWanted)
    this.#current = undefined
  }

  /** What the brain has decided to answer. */
  settle(answer: Extract<Action, { type: 'answer' }>): void {
    const { response } = this.parts
    this.#done = true
    this.outcome = answer.outcome
    this.letGo()
    if (answer.outcome === 'result' && this.#answer) {
      if (this.#streaming) response.end()
      else {
        const { status, fields, whole } = this.#answer
        response.writeHead(status, { ...fields, ...this.#account() })
        response.end(this.parts.request.method === 'HEAD' ? undefined : whole)
      }
    } else if (answer.outcome === 'error') {
      const { message, status } = this.#failure ?? { message: String(answer.reason.message), status: 500 }
      const code = answer.reason.code === 'limit' ? 'limit' : 'workload-error'
      sendProblem(response, new RequestProblem(status, code, message), this.#account())
    } else sendProblem(response, refusal(answer.reason), this.#account())
    this.parts.over(this)
  }

  /** Ends the exchange without the brain, for example because the cluster stops. */
  abandon(problem: RequestProblem): void {
    if (this.#done) return
    this.#done = true
    this.letGo()
    sendProblem(this.parts.response, problem, this.#account())
    this.parts.over(this)
  }

  async #receive(
    response: Dispatcher.ResponseData,
    token: AttemptToken,
    isCurrent: () => boolean,
  ): Promise<void> {
    const outcome = String(response.headers[headers.outcome] ?? 'refused') as AttemptOutcome
    if (outcome !== 'result') {
      const { message = '', status = 500 } = (await response.body.json()) as {
        message?: string
        status?: number
      }
      if (!isCurrent()) return
      this.#ended = performance.now()
      this.cost = costOf(response.headers)
      this.#failure = { message, status }
      this.#tellFailed(outcome === 'cancelled' ? 'refused' : outcome, message)
      return
    }
    const answer: Answer = {
      status: response.statusCode,
      fields: fieldsOf(response.headers),
      whole: undefined,
    }
    const first: Buffer[] = []
    let bytes = 0
    for await (const chunk of response.body.iterator({ destroyOnReturn: false })) {
      first.push(chunk)
      bytes += chunk.length
      if (bytes > wholeBytes) break
    }
    if (!isCurrent()) return
    this.#answer = answer
    if (bytes > wholeBytes) await this.#stream(answer, first, response, isCurrent)
    else answer.whole = Buffer.concat(first)
    if (!isCurrent()) return
    this.#ended = performance.now()
    this.cost = costOf({ ...response.headers, ...(response.trailers as IncomingHttpHeaders) })
    const { epoch, job, attempt } = token
    this.parts.tell({ type: 'finished', epoch, job, attempt, worker: this.worker, work: this.cost.work })
  }

  /** Passes a long answer on as it comes, no faster than the client takes it. */
  async #stream(
    { status, fields }: Answer,
    first: Buffer[],
    upstream: Dispatcher.ResponseData,
    isCurrent: () => boolean,
  ): Promise<void> {
    const { request, response } = this.parts
    this.#streaming = true
    this.#ended = performance.now()
    response.writeHead(status, { ...fields, ...this.#account() })
    const rest = chain(first, () => upstream.body)
    for await (const chunk of rest) {
      if (!isCurrent()) return
      if (request.method === 'HEAD') continue
      if (!response.write(chunk)) await this.#drained()
    }
  }

  /** Resolves when the client has taken what was written, or is gone. */
  #drained(): Promise<void> {
    const { response, stallMs } = this.parts
    return new Promise((resolve) => {
      const stalled = setTimeout(() => breakOff(response), stallMs)
      const go = () => {
        clearTimeout(stalled)
        response.off('drain', go).off('close', go)
        resolve()
      }
      response.on('drain', go).on('close', go)
    })
  }

  /** The answer has begun and cannot be completed: the client must see that it is not whole. */
  #breakOff(): void {
    if (this.#done) return
    this.#done = true
    this.letGo()
    breakOff(this.parts.response)
    this.parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.parts.over(this)
  }

  #clientClosed(): void {
    if (this.#done) return
    this.#done = true
    this.letGo()
    this.parts.tell({ type: 'cancelled', job: this.parts.job.id })
    this.parts.over(this)
  }

  #tellFailed(kind: Extract<Event, { type: 'failed' }>['kind'], message: string): void {
    const { token, upstream } = this.#current!
    const work = this.cost && kind !== 'unreachable' ? { work: this.cost.work } : {}
    this.parts.tell({ type: 'failed', ...token, worker: upstream.id, kind, message, ...work })
  }

  #headers(head: Buffer): Record<string, string> {
    return {
      authorization: bearer(this.parts.token),
      'content-type': 'application/octet-stream',
      [headers.headBytes]: `${head.length}`,
    }
  }

  #bodyOf(head: Buffer): Buffer | Readable {
    const { body, sendBody } = this.parts
    return sendBody && body.bytes > 0 ? Readable.from(chain([head], () => body.open())) : head
  }

  #head({ epoch, job, attempt }: AttemptToken, precedence: Precedence | undefined): Buffer {
    const { job: asked, params } = this.parts
    const head: AttemptHead = {
      epoch,
      job,
      attempt,
      workload: asked.workload,
      params,
      work: asked.work,
      ...(asked.high !== undefined && { high: asked.high }),
      preemptible: asked.preemptible ?? true,
      ...(precedence && { precedence }),
      ask: asked.safeToRepeat === false,
    }
    return Buffer.from(JSON.stringify(head))
  }

  /** What every answer says about its job. */
  #account(): Record<string, string> {
    const { job, estimateMs } = this.parts
    const runMs = this.#sent > 0 && this.#ended > this.#sent ? this.#ended - this.#sent : 0
    const queueMs = (this.#sent || performance.now()) - this.#arrived
    return {
      'plimsoll-job': job.id,
      'plimsoll-attempts': `${this.attempts}`,
      ...(this.worker && { 'plimsoll-worker': this.worker }),
      ...(this.cost && !this.#streaming && { 'plimsoll-work': `${this.cost.work}` }),
      'server-timing': `estimate;dur=${estimateMs.toFixed(3)}, queue;dur=${queueMs.toFixed(3)}, run;dur=${runMs.toFixed(3)}`,
    }
  }
}

/** `rest` is opened only when it is its turn: a file that nobody comes to read would stay open. */
async function* chain(first: Iterable<Buffer>, rest: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest()
}
