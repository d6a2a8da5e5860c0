/** Decides for each new connection of a server, before its first byte is read, whether it is served. */

import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { addStep } from '../connection-steps.ts'
import { lingerMs, problemDocument, type RequestProblem } from '../problem.ts'

/** Refused connections that stay open for a moment, so that clients can read why. Further ones are closed at once. */
const mostLingering = 64

/** `refusal` returns why a connection is not served; undefined: it is. With TLS the client cannot be told. */
export function gateConnections(
  server: Server,
  isPlain: boolean,
  refusal: (socket: Socket) => RequestProblem | undefined,
): void {
  const lingering = new Set<Socket>()
  addStep(server, (socket, next) => {
    const problem = refusal(socket)
    if (!problem) next(socket)
    else if (isPlain) refuse(socket, problem, lingering)
    else socket.destroy()
  })
}

function refuse(socket: Socket, problem: RequestProblem, lingering: Set<Socket>): void {
  socket.on('error', () => socket.destroy())
  if (lingering.size >= mostLingering) return void socket.destroy()
  lingering.add(socket)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => {
    clearTimeout(timer)
    lingering.delete(socket)
  })
  // A reset could overtake the refusal, so the client closes first.
  socket.once('end', () => socket.destroy()).resume()
  socket.end(answerText(problem))
}

function answerText(problem: RequestProblem): string {
  const body = problemDocument(problem)
  const fields = Object.entries({
    'content-type': 'application/problem+json',
    'content-length': `${Buffer.byteLength(body)}`,
    ...problem.headers,
    connection: 'close',
  })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head}\r\n${body}`
}
