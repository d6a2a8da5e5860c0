/** The connections of clients: the answers pending on each, and how malformed requests are refused. */

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lingerMs, problemDocument, RequestProblem } from './problem.ts'

/** Watches a server's connections. The returned function must be called with every response. */
export function watchConnections(server: Server): (response: ServerResponse) => void {
  const pending = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('connection', (socket: Socket) => {
    const responses = new Set<ServerResponse>()
    pending.set(socket, responses)
    socket.once('close', () => {
      for (const response of responses) closeUnassigned(response)
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable && error.code !== 'ECONNRESET' && isNext(pending.get(socket))) refuse(error, socket)
    else socket.destroy()
  })
  return (response) => {
    const responses = pending.get(response.req.socket)
    responses?.add(response)
    response.once('close', () => responses?.delete(response))
  }
}

/** Node closes only the current response of a connection; pipelined ones behind it would stay open. */
function closeUnassigned(response: ServerResponse): void {
  if (response.socket) return
  response.destroy()
  response.emit('close')
}

/** True: a refusal written now answers the malformed request, not one before it. */
function isNext(responses: ReadonlySet<ServerResponse> | undefined): boolean {
  const [first, ...others] = responses ?? []
  return first === undefined || (others.length === 0 && !first.headersSent && !first.req.complete)
}

/** Answers a request that is malformed, too large or too slow, and closes the connection. */
function refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const problem =
    code === 'HPE_HEADER_OVERFLOW'
      ? new RequestProblem(431, 'head-too-large', 'The head of the request is too large.')
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new RequestProblem(408, 'too-slow', 'The request did not arrive in time.')
        : new RequestProblem(400, 'bad-request', 'This is not a well-formed HTTP request.')
  const body = problemDocument(problem)
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  socket.removeAllListeners('data').on('data', () => {})
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
