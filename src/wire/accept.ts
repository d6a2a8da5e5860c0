/** The brain's end of workers' connections: upgrades on an HTTP server, by those who know the token. */

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Line, lines } from './lines.ts'
import { type FromBrain, type FromWorker, wirePath, wireProtocol } from './messages.ts'
import { isAuthorized } from './token.ts'

/** One worker's connection. */
export interface Connection extends Line<FromBrain> {
  onMessage: (message: FromWorker) => void
  onClose: () => void
}

/** Calls `onConnection` for each worker that connects; it must set the handlers before it returns. */
export function acceptWorkers(
  server: Server,
  token: string,
  onConnection: (connection: Connection) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    const { upgrade, authorization } = request.headers
    if (request.url !== wirePath || upgrade !== wireProtocol) return reject(socket, 404)
    if (!isAuthorized(authorization, token)) return reject(socket, 401)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${wireProtocol}\r\n\r\n`,
    )
    const connection: Connection = {
      ...lines<FromWorker, FromBrain>(
        socket,
        (message) => connection.onMessage(message),
        () => connection.onClose(),
      ),
      onMessage: () => {},
      onClose: () => {},
    }
    onConnection(connection)
  })
}

function reject(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}
