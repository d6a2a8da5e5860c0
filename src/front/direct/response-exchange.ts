/** Answers a direct request by a response of Node's server. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AnswerStore } from '../answer-buffer.ts'
import { Client, type ClientLimits } from '../client.ts'
import type { CrossOrigin } from '../cross-origin.ts'
import type { AnswerReceiver, DirectExchange } from './direct-request.ts'

/** What the front's server provides. */
export interface ServerParts {
  limits: ClientLimits
  answers: AnswerStore
  general(request: IncomingMessage, response: ServerResponse): void
  /** Undefined: pages of other origins may not read answers. */
  fieldsOf?: CrossOrigin | undefined
}

export class ResponseExchange implements DirectExchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #parts: ServerParts
  #then: (() => void) | undefined

  constructor(request: IncomingMessage, response: ServerResponse, parts: ServerParts) {
    this.#request = request
    this.#response = response
    this.#parts = parts
  }

  onClose(then: (() => void) | undefined): void {
    if (this.#then) this.#response.off('close', this.#then)
    this.#then = then
    if (then) this.#response.once('close', then)
  }

  client(): AnswerReceiver {
    const { limits, answers, fieldsOf } = this.#parts
    // Its body has been read, and is kept for the general path only.
    if (this.#request.readableLength > 0) this.#request.resume()
    const client = new Client(this.#response, limits, answers)
    const fields = fieldsOf?.(this.#request)
    if (fields) client.addFields(fields)
    return client
  }

  general(): void {
    this.#parts.general(this.#request, this.#response)
  }
}
