/** A client's request on the direct path, until it is answered or takes the general path after all. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { stackOf } from '../../lib/errors.ts'
import type { AnswerStore } from '../answer-buffer.ts'
import { Client, type ClientLimits } from '../client.ts'
import { RequestProblem } from '../problem.ts'
import { newJobId } from '../request/job-id.ts'

export interface DirectRequestParts {
  limits: ClientLimits
  answers: AnswerStore
  /** It no longer counts as a request of its client. */
  leave(): void
  general(request: IncomingMessage, response: ServerResponse): void
  log(line: string): void
}

export class DirectRequest {
  readonly request: IncomingMessage
  readonly #response: ServerResponse
  readonly #parts: DirectRequestParts
  readonly startedAt = performance.now()
  readonly job = newJobId()
  #over = false
  /** Set when it is sent. */
  cancel: () => void = () => {}

  constructor(request: IncomingMessage, response: ServerResponse, parts: DirectRequestParts) {
    this.request = request
    this.#response = response
    this.#parts = parts
    response.once('close', this.#closed)
  }

  /** True: it has an answer, takes the general path, or its client has disconnected. */
  get isOver(): boolean {
    return this.#over
  }

  /** Answers it by `send`. An answer that cannot be sent, for example because of an invalid header, becomes a 502. */
  answer(send: (client: Client) => void): void {
    this.#over = true
    const { limits, answers, log } = this.#parts
    const client = new Client(this.#response, limits, answers)
    try {
      send(client)
    } catch (error) {
      log(`job ${this.job}: its answer could not be sent: ${stackOf(error)}`)
      client.refuse(new RequestProblem(502, 'bad-answer', 'The answer to this request cannot be sent.'))
    }
  }

  /** The client has nothing yet: the request takes the general path. */
  giveBack(): void {
    if (this.#over) return
    this.#over = true
    this.#response.off('close', this.#closed)
    this.#parts.leave()
    this.#parts.general(this.request, this.#response)
  }

  /** Headers of the answer that describe its job. */
  account(worker: string, work: number): Record<string, string> {
    const runMs = (performance.now() - this.startedAt).toFixed(3)
    return {
      'plimsoll-job': this.job,
      'plimsoll-attempts': '1',
      'plimsoll-worker': worker,
      'plimsoll-work': `${work}`,
      'server-timing': `estimate;dur=0.000, queue;dur=0.000, run;dur=${runMs}`,
    }
  }

  readonly #closed = () => {
    this.#parts.leave()
    if (this.#over) return
    this.#over = true
    this.cancel()
  }
}
