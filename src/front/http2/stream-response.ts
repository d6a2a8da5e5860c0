/** The response on a stream of HTTP/2. */

import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { pairsOf } from '../../wire/raw-headers.ts'
import type { ClientResponse } from '../response.ts'
import { isConnectionHeader } from './stream-head.ts'

/**
 * Longer chunks are divided. A stream reports a chunk as taken only when all of it was: a client that reads at the
 * minimum rate must be seen to make progress. The default maximum size of a frame of HTTP/2.
 */
const sliceBytes = 16 * 1024

/** Codes of HTTP/2. */
const [noError, internalError] = [0, 2]

/** Of an answer to a WebSocket handshake, which HTTP/2 does without. */
const handshakeHeader = 'sec-websocket-accept'

/** The request of the stream. `switches`: what follows it is another protocol. */
type Asked = IncomingMessage & { readonly switches: boolean }

export class StreamResponse extends EventEmitter<{ close: []; drain: [] }> implements ClientResponse {
  readonly req: Asked
  readonly socket = null
  readonly #stream: ServerHttp2Stream
  #written = 0
  #ended = false
  /** The answer has no body, whatever is written. */
  #isEmpty = false
  #isTunnel = false
  #trailers: Record<string, string | string[]> = {}
  headersSent = false
  destroyed = false

  constructor(stream: ServerHttp2Stream, req: Asked) {
    super()
    this.req = req
    this.#stream = stream
    // Node would pass on all waiting chunks at once, and report none of them as taken before the last.
    Object.assign(stream, { _writev: null })
    stream.on('drain', () => this.emit('drain'))
    stream.on('wantTrailers', () => stream.sendTrailers(this.#trailers))
    // It is closed then.
    stream.on('error', () => {})
    stream.once('close', () => this.#closed())
  }

  get writableLength(): number {
    return this.#stream.writableLength
  }

  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain
  }

  get streamedBytes(): number {
    return this.#written - this.#stream.writableLength
  }

  get shouldKeepAlive(): boolean {
    return !this.#stream.session?.closed
  }

  /** False: the client is told to open no more streams on the connection, which closes after its last one. */
  set shouldKeepAlive(keep: boolean) {
    if (!keep) this.#stream.session?.close()
  }

  writeHead(
    status: number,
    ...rest: [Record<string, string | string[] | number>] | [message: string, headers: string[]]
  ): this {
    if (this.#isClosed) return this
    const [first, raw] = rest
    const given: [string, string | string[] | number][] =
      raw === undefined ? Object.entries(first as Record<string, string>) : pairsOf(raw)
    const isSwitch = status === 101
    const headers: Record<string, number | string | string[]> = { ':status': isSwitch ? 200 : status }
    let hasTrailers = false
    for (const [name, value] of given) {
      const key = name.toLowerCase()
      if (isConnectionHeader(key) || (isSwitch && key === handshakeHeader)) continue
      if (key === 'trailer') hasTrailers = true
      add(headers, key, value)
    }
    this.#isEmpty = this.req.method === 'HEAD' || [204, 205, 304].includes(status)
    this.#stream.respond(headers, {
      waitForTrailers: hasTrailers && !this.#isEmpty,
      endStream: this.#isEmpty,
    })
    this.headersSent = true
    return this
  }

  /** The head was sent when it was written. */
  flushHeaders(): void {}

  write(chunk: Buffer | string, taken?: () => void): boolean {
    if (this.#isClosed || this.#isEmpty || this.#ended) {
      if (taken) queueMicrotask(taken)
      return true
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    this.#written += bytes.length
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      const isLast = at + sliceBytes >= bytes.length
      this.#stream.write(bytes.subarray(at, at + sliceBytes), isLast ? taken : undefined)
    }
    return !this.#stream.writableNeedDrain
  }

  end(chunk?: Buffer | string, more: 'latin1' | (() => void) | undefined = undefined): void {
    if (this.#ended) return
    const [encoding, taken] = typeof more === 'string' ? [more, undefined] : (['utf8', more] as const)
    if (chunk !== undefined && chunk.length > 0)
      this.write(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, taken)
    this.#ended = true
    if (this.#isClosed) return
    if (!this.#isEmpty) this.#stream.end()
    // Nothing more of the client is wanted.
    if (!this.req.complete || this.req.switches) this.#stream.close(noError)
  }

  addTrailers(trailers: Record<string, string> | [name: string, value: string][]): void {
    const pairs = Array.isArray(trailers) ? trailers : Object.entries(trailers)
    for (const [name, value] of pairs) {
      const key = name.toLowerCase()
      if (!isConnectionHeader(key)) add(this.#trailers, key, value)
    }
  }

  writeContinue(): void {
    if (!this.#isClosed) this.#stream.additionalHeaders({ ':status': 100 })
  }

  writeEarlyHints(hints: Record<string, string>): void {
    if (!this.#isClosed) this.#stream.additionalHeaders({ ':status': 103, ...hints })
  }

  /** The stream carries another protocol from here on. */
  detachSocket(_socket: Socket): void {
    this.#isTunnel = true
  }

  /** Breaks the response off: the client sees that it is not complete. The connection stays. */
  destroy(): void {
    this.#stream.close(internalError)
  }

  get #isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  #closed(): void {
    this.destroyed = true
    if (!this.#isTunnel) this.emit('close')
  }
}

function add(headers: Record<string, unknown>, name: string, value: unknown): void {
  const before = headers[name]
  if (before === undefined) headers[name] = value
  else headers[name] = [before, value].flat()
}
