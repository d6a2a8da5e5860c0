/** Clients that ask to switch to another protocol, such as WebSocket. */

import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lingerMs } from '../problem.ts'

/** Other upgrade requests are served as plain ones, for example offers of HTTP/2. */
export function wantsToSwitch({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return method === 'GET' && !hasBody && headers.upgrade !== undefined && !/^h2c?$/i.test(headers.upgrade)
}

/**
 * A response on the socket of a client that asks to switch. `head`: the first bytes after its request. Undefined: the
 * client did not wait for an earlier answer, and is disconnected.
 */
export function answerOn(request: IncomingMessage, socket: Socket, head: Buffer): ServerResponse | undefined {
  socket.on('error', () => socket.destroy())
  socket.setTimeout(0)
  if (head.length > 0) socket.unshift(head)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket)
  } catch {
    socket.destroy()
    return undefined
  }
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer)).resume()
    response.emit('close')
  })
  return response
}
