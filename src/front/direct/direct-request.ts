/** A client's request on the direct path, until it is answered or takes the general path after all. */

import { stackOf } from '../../lib/errors.ts'
import type { Client } from '../client.ts'
import { RequestProblem } from '../problem.ts'
import { newDirectJobId } from '../request/job-id.ts'
import type { RequestHead } from '../request/request-head.ts'

/** How a request is answered: by a response of Node's server, or on its connection. */
export interface DirectExchange {
  /** Calls back once, when the answer has been sent or the client has disconnected. Undefined: does not. */
  onClose(then: (() => void) | undefined): void
  /** Receives the answer. */
  client(): AnswerReceiver
  /** The request takes the general path. */
  general(): void
}

export type AnswerReceiver = Pick<
  Client,
  'deliver' | 'deliverProxied' | 'beginProxied' | 'beginLong' | 'breakOff' | 'refuse'
>

export interface DirectRequestParts {
  /** It no longer counts as a request of its client. */
  leave(): void
  log(line: string): void
}

export class DirectRequest {
  readonly request: RequestHead
  readonly #exchange: DirectExchange
  readonly #parts: DirectRequestParts
  readonly startedAt = performance.now()
  readonly job = newDirectJobId()
  #over = false
  /** Set when it is sent. */
  cancel: () => void = () => {}

  constructor(request: RequestHead, exchange: DirectExchange, parts: DirectRequestParts) {
    this.request = request
    this.#exchange = exchange
    this.#parts = parts
    exchange.onClose(() => this.#closed())
  }

  /** True: it has an answer, takes the general path, or its client has disconnected. */
  get isOver(): boolean {
    return this.#over
  }

  /** Answers it by `send`. An answer that cannot be sent, for example because of an invalid header, becomes a 502. */
  answer(send: (client: AnswerReceiver) => void): void {
    this.#over = true
    this.#send(send)
  }

  /** Starts to answer it by `send`. Undefined: it has become a 502. It can still be cancelled, until it is `complete`. */
  begin<S extends object>(send: (client: AnswerReceiver) => S): S | undefined {
    const sink = this.#send(send)
    this.#over = sink === undefined
    return sink
  }

  /** An answer that was begun needs nothing more. */
  complete(): void {
    this.#over = true
  }

  #send<T>(send: (client: AnswerReceiver) => T): T | undefined {
    const client = this.#exchange.client()
    try {
      return send(client)
    } catch (error) {
      this.#parts.log(`job ${this.job}: its answer could not be sent: ${stackOf(error)}`)
      client.refuse(new RequestProblem(502, 'bad-answer', 'The answer to this request cannot be sent.'))
      return undefined
    }
  }

  /** The client has nothing yet: the request takes the general path. */
  giveBack(): void {
    if (this.#over) return
    this.#over = true
    this.#exchange.onClose(undefined)
    this.#parts.leave()
    this.#exchange.general()
  }

  /** Headers of the answer that describe its job. As on the general path, an answer that is streamed does not say its work. */
  account(worker: string, work?: number): Record<string, string> {
    const runMs = (performance.now() - this.startedAt).toFixed(3)
    return {
      'plimsoll-job': this.job,
      'plimsoll-attempts': '1',
      'plimsoll-worker': worker,
      ...(work !== undefined && { 'plimsoll-work': `${work}` }),
      'server-timing': `estimate;dur=0.000, queue;dur=0.000, run;dur=${runMs}`,
    }
  }

  #closed(): void {
    this.#parts.leave()
    if (this.#over) return
    this.#over = true
    this.cancel()
  }
}
