/** The connections of clients: the answers pending on each, clients that stop sending, and malformed requests. */

import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { lingerMs, problemDocument, RequestProblem } from './problem.ts'

/** A client that stopped sending is probed after this time, then at doubling intervals: it may have disconnected. */
const [firstProbeMs, longestProbeMs] = [250, 5_000]

type Pending = Set<ServerResponse>

/** The first bytes of a TLS handshake, and the answer to it: a fatal alert, `protocol_version`. */
const tlsStart = Buffer.of(0x16, 0x03)
const tlsAlert = Buffer.of(0x15, 0x03, 0x01, 0, 2, 2, 70)

export interface ConnectionWatch {
  /** Must be called with every response. */
  add(response: ServerResponse): void
  /** True: Node has no response in progress on this connection. */
  isIdle(socket: Socket): boolean
}

/** Watches a server's connections. */
export function watchConnections(
  server: Server,
  refused: (address: string, why: string) => void = () => {},
): ConnectionWatch {
  const pending = new WeakMap<Socket, Pending>()
  const failed = new WeakSet<Socket>()
  // A client that has sent all its requests may close its side and wait for the answers.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    const responses: Pending = new Set()
    pending.set(socket, responses)
    socket.once('end', () => probe(socket, responses))
    socket.once('close', () => {
      for (const response of responses) closeUnassigned(response)
    })
  })
  server.on('clientError', (error: ClientError, socket: Socket) => {
    // The parser repeats its error for everything that follows.
    if (failed.has(socket)) return
    failed.add(socket)
    if (isTls(error, socket)) {
      refused(socket.remoteAddress ?? 'a client', 'it uses TLS, and this port does not')
      socket.end(tlsAlert, () => socket.destroy())
    } else if (socket.writable && error.code !== 'ECONNRESET')
      refuse(problemOf(error), socket, pending.get(socket) ?? new Set())
    else socket.destroy()
  })
  // Node would close the connection without an answer.
  server.on('connect', ({ socket }) => refuse(connectProblem, socket, pending.get(socket) ?? new Set()))
  function closed(this: ServerResponse): void {
    pending.get(this.req.socket)?.delete(this)
  }
  return {
    add(response) {
      pending.get(response.req.socket)?.add(response)
      response.once('close', closed)
    },
    isIdle: (socket) => pending.get(socket)?.size === 0,
  }
}

/** `rawPacket`: the bytes that could not be parsed. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer; reason?: string }

function isTls({ rawPacket }: ClientError, socket: Socket): boolean {
  return rawPacket?.length === socket.bytesRead && rawPacket.subarray(0, 2).equals(tlsStart)
}

/** Node closes only the current response of a connection; pipelined ones behind it would stay open. */
function closeUnassigned(response: ServerResponse): void {
  if (response.socket) return
  response.destroy()
  response.emit('close')
}

/**
 * Only data shows whether a client still reads: the system of one that has disconnected answers with a reset, which the
 * write after it reports. So informational responses (102) are sent until the answer starts. HTTP/1.0 has none; the
 * system's own probes take about a minute. A client that stops sending during its answer has disconnected if that pauses.
 */
function probe(socket: Socket, responses: Pending): void {
  if (responses.size === 0) return
  const current = () => [...responses].find((response) => response.socket)
  const hasBegun = current()?.headersSent
  let waitMs = firstProbeMs
  let written = socket.bytesWritten
  const send = () => {
    const response = current()
    if (hasBegun && socket.bytesWritten === written && socket.writableLength === 0) return socket.destroy()
    written = socket.bytesWritten
    if (response && !response.headersSent && response.req.httpVersion !== '1.0') response.writeProcessing()
    waitMs = Math.min(longestProbeMs, waitMs * 2)
    timer = setTimeout(send, waitMs)
  }
  let timer: NodeJS.Timeout = setTimeout(send, waitMs)
  socket.setKeepAlive(true, longestProbeMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Answers the requests before a malformed one, then that one, and closes the connection. */
function refuse(problem: RequestProblem, socket: Socket, responses: Pending): void {
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume()
  // Node would close the connection of a client that stops sending after the answers to its valid requests.
  socket.removeAllListeners('end').once('end', () => probe(socket, responses))
  // The request whose body is malformed, if it was read that far.
  const malformed = [...responses].find(({ req }) => !req.complete)
  const before = new Set([...responses].filter((response) => response !== malformed))
  const go = () => {
    if (before.size > 0 || socket.destroyed) return
    if (malformed?.headersSent) socket.destroy()
    else endWith(problem, socket)
  }
  for (const response of before) {
    response.once('close', () => {
      before.delete(response)
      go()
    })
  }
  go()
}

const connectProblem = new RequestProblem(400, 'bad-request', 'CONNECT is not supported.')

/** A request that is malformed, too large or too slow. */
function problemOf({ code, reason }: ClientError): RequestProblem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RequestProblem(431, 'head-too-large', 'The head of the request is too large.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestProblem(408, 'too-slow', 'The request did not arrive in time.')
  return new RequestProblem(
    400,
    'bad-request',
    `This is not a well-formed HTTP request${whatIsWrong(code, reason)}`,
  )
}

/** `reason`: the words of the parser. */
function whatIsWrong(code: string | undefined, reason: string | undefined): string {
  if (code === 'HPE_INVALID_URL')
    return ': its address has characters that must be percent-encoded, for example %C3%A4 for ä.'
  return reason === undefined || !code?.startsWith('HPE_') ? '.' : `: ${reason}.`
}

function endWith(problem: RequestProblem, socket: Socket): void {
  // After an answer that announced it, the connection closes on its own.
  if (!socket.writable) return
  const body = problemDocument(problem)
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
