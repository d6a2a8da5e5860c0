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

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Reads a chunk that is exactly one request: without a body, or with one of the length that its head names. `known`:
 * headers that are likely. Undefined: it is not, its head is not plain, or longer than `headBytes`.
 */
export function readPlainRequest(
  chunk: Buffer,
  socket: Socket,
  { known, headBytes }: { known: PlainFields | undefined; headBytes: number },
): PlainRequest | undefined {
  const end = chunk.indexOf(headEnd)
  if (end < 0 || end > headBytes) return undefined
  const head = readPlainHead(chunk.toString('latin1', 0, end), known)
  if (!head) return undefined
  const { method, fields } = head
  const behind = end + headEnd.length
  if (fields.length === undefined)
    return methods.has(method) && chunk.length === behind ? new PlainRequest(head, socket) : undefined
  const isWhole = methodsWithBody.has(method) && chunk.length - behind === fields.length
  return isWhole ? new PlainRequest(head, socket, chunk.subarray(behind)) : undefined
}
