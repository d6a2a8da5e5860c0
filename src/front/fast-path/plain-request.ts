/** A plain request, in the form of Node's requests. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHead } from '../request/request-head.ts'
import { type PlainFields, type PlainHead, readPlainHead } from './plain-head.ts'

const headEnd = '\r\n\r\n'

export class PlainRequest implements RequestHead {
  readonly method: string
  readonly url: string
  readonly socket: Socket
  readonly fields: PlainFields
  readonly wholeBody: Buffer | undefined

  constructor({ method, target, fields }: PlainHead, socket: Socket, wholeBody?: Buffer) {
    this.method = method
    this.url = target
    this.socket = socket
    this.fields = fields
    this.wholeBody = wholeBody
  }

  get httpVersionMajor(): number {
    return 1
  }

  get httpVersionMinor(): number {
    return 1
  }

  get rawHeaders(): string[] {
    return this.fields.raw
  }

  get headers(): IncomingMessage['headers'] {
    return this.fields.headers(this.socket).headers
  }

  get headersDistinct(): IncomingMessage['headersDistinct'] {
    return this.fields.headers(this.socket).headersDistinct
  }

  /** The text that `make` returns for these headers and this connection, made once. */
  sharedFields(make: () => string | undefined): string | undefined {
    if (this.fields.forProgram === undefined) this.fields.forProgram = make() ?? null
    return this.fields.forProgram ?? undefined
  }
}

/**
 * Reads a chunk that is exactly one request: a GET or HEAD without a body, or a POST with one of the length that its head
 * names. `known`: headers that are likely. Undefined: it is not, or its head is not plain.
 */
export function readPlainRequest(
  chunk: Buffer,
  socket: Socket,
  known: PlainFields | undefined,
): PlainRequest | undefined {
  const text = chunk.toString('latin1')
  const end = text.indexOf(headEnd)
  if (end < 0) return undefined
  const behind = text.length - end - headEnd.length
  const isPost = text.startsWith('POST ')
  if (!isPost && behind > 0) return undefined
  const head = readPlainHead(text.slice(0, end), known)
  if (!head) return undefined
  const { method, fields } = head
  if (isPost)
    return fields.length === behind
      ? new PlainRequest(head, socket, chunk.subarray(text.length - behind))
      : undefined
  if ((method !== 'GET' && method !== 'HEAD') || fields.length !== undefined) return undefined
  return new PlainRequest(head, socket)
}
