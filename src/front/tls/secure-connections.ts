/** TLS on the public port: handshakes, and refusals of clients that do not speak it. */

import type { Socket } from 'node:net'
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import type { ConnectionStep, FrontServer } from '../connection-steps.ts'
import { readFirstBytes } from '../first-bytes.ts'
import type { Http2Sessions } from '../http2/sessions.ts'
import { lingerMs } from '../problem.ts'
import { setBelow } from './below.ts'
import type { Certificates } from './certificates.ts'

export interface SecureParts {
  certificates: Certificates
  sessions: Http2Sessions
  /** A connection was refused. */
  refused(address: string, why: string): void
}

/** Time allowed for the first byte, and then for the handshake. */
const handshakeMs = 10_000
/** Handshakes in progress; further connections are closed. */
const mostPending = 1_024
/** The first byte of every TLS connection. */
const handshakeByte = 0x16

/** HTTP/1 connections are passed on; those of HTTP/2 go to their own sessions. */
export function secureStep(server: FrontServer, parts: SecureParts): ConnectionStep {
  const { certificates, sessions, refused } = parts
  const waiting = new WeakMap<Socket, (socket: TLSSocket) => void>()
  const tls = tlsServer(certificates)
  tls.on('secureConnection', (socket) => {
    const connection = connectionOf(socket)
    waiting.get(connection)?.(socket)
  })
  tls.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { remoteAddress = 'a client' } = connectionOf(socket)
    socket.destroy()
    // A connection that breaks was not refused.
    if (error.code !== 'ECONNRESET') refused(remoteAddress, failure(error))
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
      setBelow(socket, connection)
      if (socket.alpnProtocol === 'h2') sessions.serve(socket)
      else next(socket)
    })
    readFirstBytes(connection, {
      limitMs: handshakeMs,
      look: ([first]) => ({ found: first === handshakeByte, used: 0 }),
      found(isTls) {
        if (isTls) return void tls.emit('connection', connection)
        refused(remoteAddress, 'it does not use TLS')
        refusePlain(connection)
      },
    })
  }
}

function tlsServer(certificates: Certificates): TlsServer {
  const tls = createServer({
    ...certificates.options(),
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeMs,
  })
  // Connections that exist keep the certificate of their handshake.
  certificates.onChange(() => tls.setSecureContext(certificates.options()))
  return tls
}

/** Node does not document it: the connection that a TLS socket was made from. */
function connectionOf(socket: TLSSocket): Socket {
  return (socket as unknown as { _parent?: Socket })._parent ?? socket
}

function failure({ code, message }: NodeJS.ErrnoException): string {
  const text = `${code} ${message}`.toUpperCase().replaceAll(' ', '_')
  if (text.includes('HANDSHAKE_TIMEOUT')) return 'its TLS handshake took too long'
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION/.test(text)) return 'it does not speak TLS 1.2 or later'
  if (text.includes('NO_APPLICATION_PROTOCOL')) return 'it speaks neither HTTP/2 nor HTTP/1.1'
  return `its TLS handshake failed: ${code ?? message}`
}

/** For clients that speak plain HTTP. */
function refusePlain(socket: Socket): void {
  const text = 'This port speaks https: use https:// in place of http://\n'
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket
    .on('error', () => socket.destroy())
    .once('close', () => clearTimeout(timer))
    .once('end', () => socket.destroy())
    .resume()
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
}
