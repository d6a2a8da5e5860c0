/** The brain's side of the connections of workers and fronts: HTTP upgrades, authorized by the token of their role. */

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from './front-messages.ts'
import type { NotLeader } from './leading.ts'
import { type Line, lines } from './lines.ts'
import { type FromBrain, type FromWorker, type WorkerHello, wirePath, wireProtocol } from './messages.ts'
import type { Frame } from './session.ts'
import { roleHeader, type Tokens, tokenRefusal } from './token.ts'

/** The connection of one worker, or one front. */
export interface Connection<In, Out> extends Line<Out> {
  onMessage: (message: In) => void
  onClose: () => void
}

export type WorkerConnection = Connection<FromWorker, FromBrain>
export type FrontConnection = Connection<
  FrontHello | Frame<FromFront>,
  FrontWelcome | { type: 'refused'; message: string } | NotLeader | Frame<ToFront>
>

/** Takes over a connection after its first message. Must set the connection's handlers before it returns. */
export interface JoinHandlers {
  worker(connection: WorkerConnection, hello: WorkerHello): void
  front(connection: FrontConnection, hello: FrontHello): void
}

export interface Refusal {
  status: number
  message: string
}

export interface AcceptParts {
  tokens: Tokens
  handlers: JoinHandlers
  /** Why this port accepts no such connection, whatever its token; undefined: it does. Default: it accepts all. */
  check?(request: IncomingMessage): Refusal | undefined
  /** A connection was refused. */
  refused?(address: string, why: string): void
}

export function acceptJoining(server: Server, { tokens, handlers, check, refused }: AcceptParts): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    const refusal = check?.(request) ?? refusalOf(request, tokens)
    if (refusal) {
      refused?.(request.socket.remoteAddress ?? 'a client', refusal.message)
      return reject(socket, refusal)
    }
    const role = roleOf(request)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${wireProtocol}\r\n\r\n`,
    )
    onHello(socket, role === 'worker' ? { worker: handlers.worker } : { front: handlers.front })
  })
}

/** Waits for the first message of a worker or a front. One without a handler is disconnected. */
export function onHello(socket: Duplex, { worker, front }: Partial<JoinHandlers>): void {
  type In = FromWorker | FrontHello
  const connection: Connection<In, never> = {
    ...lines<In, never>(
      socket,
      (message) => connection.onMessage(message),
      () => connection.onClose(),
    ),
    onMessage(hello) {
      if (hello.type === 'hello' && worker) worker(connection as WorkerConnection, hello)
      else if (hello.type === 'front' && front) front(connection as unknown as FrontConnection, hello)
      else connection.close()
    },
    onClose: () => {},
  }
}

function refusalOf(request: IncomingMessage, tokens: Tokens): Refusal | undefined {
  const { upgrade, authorization } = request.headers
  if (request.url !== wirePath || upgrade !== wireProtocol) return { status: 404, message: 'not found' }
  const role = roleOf(request)
  if (role !== undefined) return tokenRefusal(authorization, role, tokens)
  return { status: 400, message: `${roleHeader}: must be worker or front` }
}

function roleOf({ headers: { [roleHeader]: role } }: IncomingMessage): 'worker' | 'front' | undefined {
  return role === 'worker' || role === 'front' ? role : undefined
}

function reject(socket: Duplex, { status, message }: Refusal): void {
  const text = `${message}\n`
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}
