/**
 * TLS with pre-shared keys, for connections between machines. Both sides prove that they know the same token before either
 * sends anything; certificates are not needed.
 */

import { constants } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { tlsKeyOf } from './token.ts'

/** The only suite of OpenSSL with pre-shared keys, forward secrecy and authenticated encryption. */
const protocol = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const
/**
 * Time allowed for the handshake, and the maximum number of connections in theirs. A further one takes the place of the
 * oldest: a peer with the token completes its handshake at once, so silent connections cannot keep it out.
 */
const usualLimits = { handshakeMs: 10_000, mostPending: 256 }
/** The first byte of every TLS connection. */
const handshakeByte = 0x16
/** After a refusal the rest of a request is read for this long: a reset could overtake the refusal. */
const lingerMs = 1_000

/** Both sides must know the token; `identity` tells the server which one the client uses. */
export interface SharedSecret {
  identity: string
  token: string
}

export interface SecureParts {
  /** Undefined: the identity is unknown. */
  tokenOf(identity: string): string | undefined
  /** A connection was refused. */
  refused(address: string, why: string): void
  limits?: Partial<typeof usualLimits>
}

export interface SecureListener {
  /** Listen with this one. */
  listener: Server
  /** Closes the port and all connections. */
  close(): void
}

/** Serves HTTP over TLS: the HTTP server must not listen itself. */
export function secureListener(http: HttpServer, parts: SecureParts): SecureListener {
  const { tokenOf, refused } = parts
  const { handshakeMs, mostPending } = { ...usualLimits, ...parts.limits }
  const pending = new Map<string, Socket>()
  const tls = createTlsServer(
    {
      ...protocol,
      // A resumed session would skip the proof.
      secureOptions: constants.SSL_OP_NO_TICKET,
      handshakeTimeout: handshakeMs,
      pskCallback(_socket, identity) {
        const token = tokenOf(identity)
        return token === undefined ? null : tlsKeyOf(token)
      },
    },
    (socket) => {
      pending.delete(nameOf(socket))
      http.emit('connection', socket)
    },
  )
  const listener = createServer({ noDelay: true }, (socket) => {
    const name = nameOf(socket)
    const { remoteAddress = 'a client' } = socket
    if (pending.size >= mostPending) drop(pending)
    pending.set(name, socket)
    socket.on('error', () => socket.destroy()).once('close', () => pending.delete(name))
    socket.setTimeout(handshakeMs, () => socket.destroy())
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null
      if (first === null) return void socket.destroy()
      if (first[0] !== handshakeByte) {
        refused(remoteAddress, 'it does not use TLS')
        return refusePlain(socket)
      }
      socket.setTimeout(0)
      socket.unshift(first)
      tls.emit('connection', socket)
    })
  })
  tls.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const { remoteAddress = 'a client' } = socket
    socket.destroy()
    // A connection that breaks is not an attempt to get in.
    if (error.code !== 'ECONNRESET') refused(remoteAddress, tlsFailure(error))
  })
  // The HTTP server tracks its connections from this event on.
  listener.on('listening', () => http.emit('listening'))
  return {
    listener,
    close() {
      listener.close()
      for (const socket of pending.values()) socket.destroy()
      http.close()
      http.closeAllConnections()
    },
  }
}

/** A connection whose peer has proved that it knows the token when `secureConnect` is emitted. */
export function secureSocket(
  { host, port }: { host: string; port: number },
  { identity, token }: SharedSecret,
): TLSSocket {
  const psk = tlsKeyOf(token)
  const { handshakeMs } = usualLimits
  const socket = connect({
    ...{ ...protocol, host, port },
    pskCallback: () => ({ psk, identity }),
    // Without certificates, the key alone identifies the server.
    checkServerIdentity: () => undefined,
  })
  const late = setTimeout(
    () => socket.destroy(new Error(`no TLS handshake within ${handshakeMs / 1000} s`)),
    handshakeMs,
  )
  const inTime = () => clearTimeout(late)
  return socket.setNoDelay(true).once('secureConnect', inTime).once('close', inTime)
}

/** What an error of a TLS connection means for the people at either end. */
export function tlsFailure({ code = '', message }: NodeJS.ErrnoException): string {
  // Some errors have the code of OpenSSL, others only its message.
  const text = `${code} ${message}`.toUpperCase().replaceAll(' ', '_')
  if (/BAD_RECORD_MAC|DECRYPT/.test(text)) return 'the token is wrong'
  if (/PSK_IDENTITY/.test(text)) return 'the role is unknown'
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|NOT_SSL_RECORD/.test(text)) return 'it does not use TLS'
  if (/NO_SHARED_CIPHER|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|PROTOCOL_VERSION/.test(text))
    return 'it uses TLS without the key of a cluster'
  return code || message
}

/** For clients that expect HTTP. */
function refusePlain(socket: Socket): void {
  const text = 'this port requires TLS: join with tls:// in place of http://\n'
  socket.resume()
  socket.setTimeout(0)
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
  // Not a timeout of idleness: a client that goes on sending would stay.
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Closes the oldest. */
function drop(pending: Map<string, Socket>): void {
  const [oldest] = pending
  if (!oldest) return
  const [name, socket] = oldest
  pending.delete(name)
  socket.destroy()
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
