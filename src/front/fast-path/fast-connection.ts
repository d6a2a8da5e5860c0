/**
 * A client's connection: Node's server owns it and reads all requests except small ones, which the direct path answers right here.
 * A request is answered here if it is plain, comes alone in one piece with its body, and Node's server is idle. The first request of a
 * connection always goes to Node's server, whose time limits begin with it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { CrossOrigin } from '../cross-origin.ts'
import type { DirectExchange } from '../direct/direct-request.ts'
import type { RequestHead } from '../request/request-head.ts'
import { ReadingWatch } from '../slow-clients.ts'
import { resetConnection } from '../tls/below.ts'
import type { AnswerText } from './answer-text.ts'
import { type ExchangeOwner, FastExchange, shortBytes } from './fast-exchange.ts'
import type { PlainFields } from './plain-head.ts'
import { readPlainRequest } from './plain-request.ts'
import { RequestBoundaries } from './request-boundaries.ts'

export interface FastPathParts {
  direct: {
    readonly isOpen: boolean
    readonly longestBody: number
    take(request: RequestHead, exchange: DirectExchange): boolean
  }
  limits: Pick<FrontLimits, 'stallMs' | 'minRate' | 'headerBytes'>
  /** True: Node's server has no response in progress on this connection. */
  isIdle(socket: Socket): boolean
  exchangeOf(request: IncomingMessage, response: ServerResponse): DirectExchange
  /** Undefined: pages of other origins may not read answers. */
  fieldsOf?: CrossOrigin | undefined
}

export interface ConnectionParts extends FastPathParts {
  /** Longest head. */
  headBytes: number
  /** Returns the request that Node's server reads while `feed` runs. */
  lend(feed: () => void): DirectExchange | undefined
}

type Reader = (chunk: Buffer) => void

export class FastConnection implements ExchangeOwner {
  readonly #socket: Socket
  readonly #parts: ConnectionParts
  /** Node's server reads the connection by this listener. */
  readonly #node: Reader
  readonly #boundaries = new RequestBoundaries()
  #fields: PlainFields | undefined
  /** The request in progress here, and its bytes. */
  #exchange: FastExchange | undefined
  #bytes: Buffer | undefined
  #watch: ReadingWatch | undefined
  /** In progress at the last sweep. */
  #before: FastExchange | undefined

  constructor(socket: Socket, node: Reader, parts: ConnectionParts) {
    this.#socket = socket
    this.#node = node
    this.#parts = parts
    socket.on('data', this.#read)
    socket.off('data', node)
    keepLittle(socket)
    // Before Node's server and the watch of connections, which know what a half-closed connection means.
    socket.prependListener('end', this.#lendCurrent)
    socket.once('close', () => this.#exchange?.closed())
  }

  /** Passes the request in progress to Node's server, so that it counts as one of its own. */
  lendCurrent(): void {
    this.#exchange?.lend()
  }

  /** Passes the request to Node's server if it was in progress at the last call too. */
  lendLong(): void {
    if (this.#exchange && this.#exchange === this.#before) this.lendCurrent()
    this.#before = this.#exchange
  }

  send({ head, isChunked }: AnswerText, body: readonly Buffer[]): void {
    this.#exchange = this.#bytes = undefined
    const socket = this.#socket
    const bytes = body.reduce((sum, { length }) => sum + length, 0)
    const before = isChunked && bytes > 0 ? `${bytes.toString(16)}\r\n` : ''
    const after = isChunked ? (bytes > 0 ? '\r\n0\r\n\r\n' : '0\r\n\r\n') : ''
    if (bytes <= shortBytes) {
      let text = head + before
      for (const piece of body) text += piece.toString('latin1')
      socket.write(text + after, 'latin1')
    } else {
      socket.cork()
      socket.write(head + before, 'latin1')
      for (const piece of body) socket.write(piece)
      if (after !== '') socket.write(after, 'latin1')
      socket.uncork()
    }
    if (socket.writableLength > 0) this.#watchReading()
  }

  lend(): DirectExchange | undefined {
    const bytes = this.#bytes!
    this.#exchange = this.#bytes = undefined
    if (this.#socket.destroyed) return undefined
    const lent = this.#parts.lend(() => this.#pass(bytes))
    // It read the request differently, so what follows cannot be trusted.
    if (!lent) this.#socket.destroy()
    return lent
  }

  readonly #lendCurrent = () => this.lendCurrent()

  readonly #read = (chunk: Buffer) => {
    // Node's server answers pipelined requests in their order.
    if (this.#exchange) this.lendCurrent()
    else if (this.#begin(chunk)) return
    this.#pass(chunk)
  }

  /** False: it is for Node's server. */
  #begin(chunk: Buffer): boolean {
    const { direct, isIdle, headBytes, fieldsOf } = this.#parts
    const socket = this.#socket
    const { isBetween, count } = this.#boundaries
    if (!isBetween || count === 0 || !direct.isOpen) return false
    if (chunk.length > headBytes + direct.longestBody) return false
    if (!isIdle(socket) || socket.writableLength > 0) return false
    const request = readPlainRequest(chunk, socket, { known: this.#fields, headBytes })
    if (!request) return false
    this.#fields = request.fields
    const exchange = new FastExchange(this, request.method === 'HEAD', fieldsOf?.(request))
    this.#exchange = exchange
    this.#bytes = chunk
    if (direct.take(request, exchange)) return true
    this.#exchange = this.#bytes = undefined
    return false
  }

  #pass(chunk: Buffer): void {
    if (!this.#boundaries.read(chunk)) this.#leave()
    this.#node(chunk)
  }

  /** Node's server reads everything from here on. */
  #leave(): void {
    const socket = this.#socket
    socket.off('data', this.#read).off('end', this.#lendCurrent)
    socket.on('data', this.#node)
  }

  #watchReading(): void {
    const { stallMs: windowMs, minRate: bytesPerSecond } = this.#parts.limits
    const socket = this.#socket
    this.#watch ??= new ReadingWatch(answerOf(socket), { windowMs, bytesPerSecond }, () =>
      resetConnection(socket),
    )
    this.#watch.start()
  }
}

/**
 * Requests wait for their readers with about one chunk, and so does the connection. Otherwise each keeps as much as answers may, because
 * servers have one `highWaterMark` for both directions, and a socket with a `data` listener reads on while it is paused.
 */
function keepLittle(socket: Socket): void {
  const { _readableState: state } = socket as unknown as { _readableState: { highWaterMark: number } }
  state.highWaterMark = 0
}

/** The connection as the only answer that it carries. */
function answerOf(socket: Socket): ConstructorParameters<typeof ReadingWatch>[0] {
  return {
    socket,
    get destroyed() {
      return socket.destroyed
    },
    get writableLength() {
      return socket.writableLength
    },
    once: (event, listener) => socket.once(event, listener),
  }
}
