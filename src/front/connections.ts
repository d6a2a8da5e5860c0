/** The sockets of clients: which answers are owed on each, and how one is ended so that its client learns why. */

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lingerMs, problemDocument, RequestProblem } from './problem.ts'

/** Watches a server's sockets. The function it returns must be told of every response. */
export function watchConnections(server: Server): (response: ServerResponse) => void {
  const owed = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('connection', (socket: Socket) => {
    const responses = new Set<ServerResponse>()
    owed.set(socket, responses)
    socket.once('close', () => {
      for (const response of responses) closeUnassigned(response)
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable && error.code !== 'ECONNRESET' && isNext(owed.get(socket))) refuse(error, socket)
    else socket.destroy()
  })
  return (response) => {
    const responses = owed.get(response.req.socket)
    responses?.add(response)
    response.once('close', () => responses?.delete(response))
  }
}

/** Node tells only the response whose turn it is that the client is gone; pipelined ones behind it wait for ever. */
function closeUnassigned(response: ServerResponse): void {
  if (response.socket) return
  response.destroy()
  response.emit('close')
}

/** True: a refusal written now is the answer to what could not be read, not to another request before it. */
function isNext(responses: ReadonlySet<ServerResponse> | undefined): boolean {
  const [first, ...others] = responses ?? []
  return first === undefined || (others.length === 0 && !first.headersSent && !first.req.complete)
}

/** What is not HTTP, too large a head, or too slow, is told so and cut off. */
function refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const problem =
    code === 'HPE_HEADER_OVERFLOW'
      ? new RequestProblem(431, 'head-too-large', 'The head of the request is too large.')
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new RequestProblem(408, 'too-slow', 'The request did not arrive in time.')
        : new RequestProblem(400, 'bad-request', 'This is not an HTTP request that can be read.')
  const body = problemDocument(problem)
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  socket.removeAllListeners('data').on('data', () => {})
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
