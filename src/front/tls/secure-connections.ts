/** TLS on the public port: handshakes, and refusals of clients that do not speak it. */

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ConnectionStep, FrontServer } from '../connection-steps.ts'
import { readFirstBytes } from '../first-bytes.ts'
import type { Http2Sessions } from '../http2/sessions.ts'
import { setBelow } from './below.ts'
import type { Certificates } from './certificates.ts'
import { handshakeByte, handshakeMs, refusePlain, tlsServer } from './tls-server.ts'

export interface SecureParts {
  certificates: Certificates
  sessions: Http2Sessions
  /** A connection was refused. */
  refused(address: string, why: string): void
}

/** Handshakes in progress; further connections are closed. */
const mostPending = 1_024

/** HTTP/1 connections are passed on; those of HTTP/2 go to their own sessions. */
export function secureStep(server: FrontServer, parts: SecureParts): ConnectionStep {
  const { certificates, sessions, refused } = parts
  const waiting = new WeakMap<Socket, (socket: TLSSocket) => void>()
  const tls = tlsServer({
    ...{ certificates, protocols: ['h2', 'http/1.1'], refused },
    connected: (socket, connection) => waiting.get(connection)?.(socket),
  })
  return (connection, next) => {
    const { remoteAddress = 'a client' } = connection
    if (server.starting.size >= mostPending) {
      refused(remoteAddress, `${mostPending} handshakes are in progress`)
      return void connection.destroy()
    }
    const passed = server.start(connection)
    waiting.set(connection, (socket) => {
      passed()
      socket.allowHalfOpen = true
      setBelow(socket, connection)
      if (socket.alpnProtocol === 'h2') sessions.serve(socket)
      else next(socket)
    })
    readFirstBytes(connection, {
      limitMs: handshakeMs,
      look: ([first]) => ({ found: first === handshakeByte, used: 0 }),
      found(isTls) {
        if (isTls) {
          // A client that leaves during its handshake is noticed at once, not when its time is over.
          connection.allowHalfOpen = false
          return void tls.emit('connection', connection)
        }
        refused(remoteAddress, 'it does not use TLS')
        refusePlain(connection)
      },
    })
  }
}
