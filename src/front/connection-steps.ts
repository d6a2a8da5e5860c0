/** Steps that a connection takes before its requests are parsed. Each step added is the first to see a connection. */

import { type RequestListener, Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { FastPath } from './fast-path/fast-path.ts'
import type { Http2Sessions } from './http2/sessions.ts'

/** `next` passes the connection on, or one that is carried by it. */
export type ConnectionStep = (socket: Socket, next: (socket: Socket) => void) => void

/** Call when all listeners that parse or watch connections are there. */
export function addStep(server: Server, step: ConnectionStep): void {
  const listeners = server.listeners('connection')
  const next = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket)
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => step(socket, next))
}

/** An HTTP server that also closes connections which the steps hold, and those of HTTP/2. */
export class FrontServer extends Server {
  /** Connections that have not passed all steps. */
  readonly starting = new Set<Socket>()
  sessions: Http2Sessions | undefined
  fastPath: FastPath | undefined
  /** Creates the server for requests of the keeper, which proves itself by this token. */
  forKeeper: ((token: string) => Server) | undefined
  /** Connections that have passed all steps. */
  readonly #passed = new Set<Socket>()

  constructor(options: ServerOptions = {}, listener?: RequestListener) {
    super(options, listener)
    this.on('connection', (socket: Socket) => {
      this.#passed.add(socket)
      socket.once('close', () => this.#passed.delete(socket))
    })
  }

  /** Counts a connection as starting until the returned function is called, or it closes. */
  start(socket: Socket): () => void {
    const passed = () => {
      this.starting.delete(socket)
      socket.off('close', passed)
    }
    this.starting.add(socket)
    socket.once('close', passed)
    return passed
  }

  override closeIdleConnections(): void {
    this.fastPath?.lendAll()
    // Node takes a connection for idle as soon as its response has ended, although a slow client has not read it all.
    const unread = [...this.#passed].filter(({ writableLength }) => writableLength > 0)
    for (const socket of unread) socket.destroy = () => socket
    super.closeIdleConnections()
    for (const socket of unread) delete (socket as Partial<Socket>).destroy
    this.#closeStarting()
    this.sessions?.close('idle')
  }

  override closeAllConnections(): void {
    super.closeAllConnections()
    this.#closeStarting()
    this.sessions?.close('all')
  }

  #closeStarting(): void {
    for (const socket of this.starting) socket.destroy()
  }
}
