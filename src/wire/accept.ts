/** The brain's side of the connections of workers and fronts: HTTP upgrades, authorized by the token. */

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from './front-messages.ts'
import { type Line, lines } from './lines.ts'
import { type FromBrain, type FromWorker, type WorkerHello, wirePath, wireProtocol } from './messages.ts'
import type { Frame } from './session.ts'
import { isAuthorized } from './token.ts'

/** The connection of one worker, or one front. */
export interface Connection<In, Out> extends Line<Out> {
  onMessage: (message: In) => void
  onClose: () => void
}

export type WorkerConnection = Connection<FromWorker, FromBrain>
export type FrontConnection = Connection<
  FrontHello | Frame<FromFront>,
  FrontWelcome | { type: 'refused'; message: string } | Frame<ToFront>
>

/** Takes over a connection after its first message. Must set the connection's handlers before it returns. */
export interface JoinHandlers {
  worker(connection: WorkerConnection, hello: WorkerHello): void
  front(connection: FrontConnection, hello: FrontHello): void
}

export function acceptJoining(server: Server, token: string, handlers: JoinHandlers): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    const { upgrade, authorization } = request.headers
    if (request.url !== wirePath || upgrade !== wireProtocol) return reject(socket, 404)
    if (!isAuthorized(authorization, token)) return reject(socket, 401)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${wireProtocol}\r\n\r\n`,
    )
    type In = FromWorker | FrontHello
    const connection: Connection<In, never> = {
      ...lines<In, never>(
        socket,
        (message) => connection.onMessage(message),
        () => connection.onClose(),
      ),
      onMessage(hello) {
        if (hello.type === 'hello') handlers.worker(connection as WorkerConnection, hello)
        else if (hello.type === 'front') handlers.front(connection as unknown as FrontConnection, hello)
        else connection.close()
      },
      onClose: () => {},
    }
  })
}

function reject(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}
