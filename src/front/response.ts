/** The response to one request, as the rest of the front writes it: on a connection of HTTP/1 or a stream of HTTP/2. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What `ServerResponse` of Node and `StreamResponse` have in common. */
export interface ClientResponse {
  readonly req: IncomingMessage
  /** The connection while it carries this response alone; null: it is a stream, or waits for earlier responses. */
  readonly socket: Socket | null
  readonly headersSent: boolean
  readonly destroyed: boolean
  /** Bytes that the client's connection has not taken. */
  readonly writableLength: number
  readonly writableNeedDrain: boolean
  /** False: the connection closes after this response. */
  shouldKeepAlive: boolean
  /** Bytes of a stream that the connection has taken. Undefined: `socket` counts them. */
  readonly streamedBytes?: number
  writeHead(status: number, headers: Record<string, string | string[] | number>): unknown
  writeHead(status: number, message: string, headers: string[]): unknown
  flushHeaders(): void
  /** The chunk may be overwritten once `taken` is called. */
  write(chunk: Buffer | string, taken?: () => void): boolean
  end(chunk?: Buffer | string): unknown
  end(chunk: Buffer, taken: (() => void) | undefined): unknown
  end(text: string, encoding: 'latin1'): unknown
  addTrailers(trailers: Record<string, string> | [name: string, value: string][]): void
  writeContinue(): void
  writeEarlyHints(hints: Record<string, string>): void
  detachSocket(socket: Socket): void
  destroy(): unknown
  on(event: 'close' | 'drain', listener: () => void): unknown
  once(event: 'close' | 'drain', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}
