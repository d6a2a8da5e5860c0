/** How the admin port is reached: plainly, or over TLS. */

import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { readFirstBytes } from '../front/first-bytes.ts'
import type { Certificates } from '../front/tls/certificates.ts'
import { handshakeByte, handshakeMs, refusePlain, tlsServer } from '../front/tls/tls-server.ts'
import { isThisMachine } from './guard.ts'

export interface AdminListener {
  /** Listen with this one. */
  listener: Server
  /** Closes the port and all connections. */
  close(): void
}

/** Connections whose protocol is not known yet. A further one takes the place of the oldest. */
const mostPending = 256

export function plainListener(http: HttpServer): AdminListener {
  return {
    listener: http,
    close() {
      http.close()
      http.closeAllConnections()
    },
  }
}

export interface SecureAdminParts {
  certificates: Certificates
  /** A connection was refused. */
  refused(address: string, why: string): void
}

/** Programs of this machine, such as its workers and fronts, may speak plain HTTP; all others must use TLS. */
export function tlsListener(http: HttpServer, { certificates, refused }: SecureAdminParts): AdminListener {
  const pending = new Set<Socket>()
  const tls = tlsServer({
    ...{ certificates, protocols: ['http/1.1'], refused },
    connected(socket, connection) {
      pending.delete(connection)
      http.emit('connection', socket)
    },
  })
  const listener = createServer({ noDelay: true }, (connection) => {
    const { remoteAddress = 'a client' } = connection
    const [oldest] = pending
    if (pending.size >= mostPending) oldest?.destroy()
    pending.add(connection)
    connection.on('error', () => connection.destroy()).once('close', () => pending.delete(connection))
    readFirstBytes(connection, {
      limitMs: handshakeMs,
      look: ([first]) => ({ found: first === handshakeByte, used: 0 }),
      found(isTls) {
        if (isTls) return void tls.emit('connection', connection)
        pending.delete(connection)
        if (isThisMachine(connection)) return void http.emit('connection', connection)
        refused(remoteAddress, 'it does not use TLS')
        refusePlain(connection)
      },
    })
  })
  // The HTTP server tracks its connections from this event on.
  listener.on('listening', () => http.emit('listening'))
  return {
    listener,
    close() {
      listener.close()
      certificates.close()
      for (const connection of pending) connection.destroy()
      http.close()
      http.closeAllConnections()
    },
  }
}
