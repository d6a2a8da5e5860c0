/**
 * The fast path: small requests are read and answered on the sockets of a server's connections, without the objects that
 * Node's server makes for each request. All rules about connections stay with Node's server, which owns them.
 * See decisions/140-fast-path.md.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DirectExchange } from '../direct/direct-request.ts'
import { type ConnectionParts, FastConnection, type FastPathParts } from './fast-connection.ts'
import { longestHead } from './plain-head.ts'

/** A request that is in progress for longer, and for twice this time at most, is passed to Node's server. */
const longMs = 5_000

export class FastPath {
  readonly #parts: ConnectionParts
  readonly #connections = new Set<FastConnection>()
  readonly #timer: NodeJS.Timeout
  #claim: ((request: IncomingMessage, response: ServerResponse) => void) | undefined

  constructor(parts: FastPathParts) {
    // Node's parser enforces the limit, and counts a little differently.
    const headBytes = Math.min(longestHead, parts.limits.headerBytes / 2)
    this.#parts = { ...parts, headBytes, lend: (feed) => this.#lend(feed) }
    this.#timer = setInterval(() => this.sweep(), longMs).unref()
  }

  /** Call after Node's server has begun to listen to the connection. */
  add(socket: Socket): void {
    const readers = socket.listeners('data') as ((chunk: Buffer) => void)[]
    if (readers.length !== 1) return
    const connection = new FastConnection(socket, readers[0]!, this.#parts)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  /** Call with every request of Node's server. True: it was read here before, and is in progress. */
  claims(request: IncomingMessage, response: ServerResponse): boolean {
    const claim = this.#claim
    this.#claim = undefined
    claim?.(request, response)
    return claim !== undefined
  }

  /** Passes all requests in progress to Node's server, which then counts their connections as busy. */
  lendAll(): void {
    for (const connection of this.#connections) connection.lendCurrent()
  }

  /** The time limit of idle connections would end those whose request takes long. */
  sweep(): void {
    for (const connection of this.#connections) connection.lendLong()
  }

  /** Call when the server has closed. */
  close(): void {
    clearInterval(this.#timer)
  }

  #lend(feed: () => void): DirectExchange | undefined {
    let lent: DirectExchange | undefined
    this.#claim = (request, response) => {
      lent = this.#parts.exchangeOf(request, response)
    }
    try {
      feed()
    } finally {
      this.#claim = undefined
    }
    return lent
  }
}
