/** The head of a request, as Node's server or the fast path reads it. */

import type { IncomingMessage } from 'node:http'

export type RequestHead = Pick<
  IncomingMessage,
  | 'method'
  | 'url'
  | 'httpVersionMajor'
  | 'httpVersionMinor'
  | 'rawHeaders'
  | 'headers'
  | 'headersDistinct'
  | 'socket'
> & {
  /** Undefined: the request has no body, or it is read as it arrives. */
  readonly wholeBody?: Buffer | undefined
}
