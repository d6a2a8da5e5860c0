/** The head of a plain request, in the form of Node's requests. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHead } from '../request/request-head.ts'
import type { PlainHead } from './plain-head.ts'

export class PlainRequest implements RequestHead {
  readonly method: string
  readonly url: string
  readonly socket: Socket
  readonly #fields: PlainHead['fields']

  constructor({ method, target, fields }: PlainHead, socket: Socket) {
    this.method = method
    this.url = target
    this.socket = socket
    this.#fields = fields
  }

  get httpVersionMajor(): number {
    return 1
  }

  get httpVersionMinor(): number {
    return 1
  }

  get rawHeaders(): string[] {
    return this.#fields.raw
  }

  get headers(): IncomingMessage['headers'] {
    return this.#fields.headers(this.socket).headers
  }

  get headersDistinct(): IncomingMessage['headersDistinct'] {
    return this.#fields.headers(this.socket).headersDistinct
  }

  /** The text that `make` returns for these headers and this connection, made once. */
  sharedFields(make: () => string | undefined): string | undefined {
    if (this.#fields.forProgram === undefined) this.#fields.forProgram = make() ?? null
    return this.#fields.forProgram ?? undefined
  }
}
