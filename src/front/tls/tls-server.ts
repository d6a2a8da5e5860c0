/** TLS with certificates from files, and refusals of those who do not speak it. */

import type { Socket } from 'node:net'
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { lingerMs } from '../problem.ts'
import type { Certificates } from './certificates.ts'

/** The first byte of every TLS connection. */
export const handshakeByte = 0x16
/** Time allowed for the first byte, and then for the handshake. */
export const handshakeMs = 10_000

export interface TlsServerParts {
  certificates: Certificates
  /** Protocols above TLS, the preferred one first. */
  protocols: readonly string[]
  connected(socket: TLSSocket, connection: Socket): void
  /** A connection was refused. */
  refused(address: string, why: string): void
}

/** Give it connections by its event `connection`. */
export function tlsServer({ certificates, protocols, connected, refused }: TlsServerParts): TlsServer {
  const tls = createServer({
    ...certificates.options(),
    ALPNProtocols: [...protocols],
    handshakeTimeout: handshakeMs,
  })
  // Connections that exist keep the certificate of their handshake.
  certificates.onChange(() => tls.setSecureContext(certificates.options()))
  tls.on('secureConnection', (socket) => connected(socket, connectionOf(socket)))
  tls.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { remoteAddress = 'a client' } = connectionOf(socket)
    socket.destroy()
    // A connection that breaks was not refused.
    if (error.code !== 'ECONNRESET') refused(remoteAddress, failure(error))
  })
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
export function refusePlain(socket: Socket): void {
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
