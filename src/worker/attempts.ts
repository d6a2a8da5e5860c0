/** A worker's own port: fronts send attempts here, and get the answer with what it cost. */

import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type AttemptHead, attemptPath, attemptProtocol } from '../wire/messages.ts'
import { isAuthorized } from '../wire/token.ts'
import { refuse, sendFailure, sendHttp, sendResult } from './answers.ts'
import { bodyOf, headInHeader, readHead } from './attempt-head.ts'
import type { AttemptBody } from './held.ts'
import type { Supervisor } from './supervisor.ts'
import { join } from './upgrades.ts'

/** Upgrades have the head of a client's request, which may be 16 KiB, in a header. */
const longestHeaders = 128 * 1024

/** `ready` resolves when the worker has been welcomed and knows its discipline. `full`: what it says when it has no slot. */
export function attemptServer(
  supervisor: Supervisor,
  token: string,
  ready: Promise<void>,
  full: 'refused' | 'throttled' = 'refused',
): Server {
  const attend = async (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => {
    try {
      if (!isAuthorized(request.headers.authorization, token)) response.writeHead(401).end()
      else if (!isAttempt(request, upgrade)) response.writeHead(404).end()
      else {
        await ready
        const head = upgrade ? headInHeader(request) : await readHead(request)
        const sent = upgrade ? {} : bodyOf(request, head)
        await serve(supervisor, head, sent, response, full, upgrade)
      }
    } catch (error) {
      if (response.headersSent) response.destroy()
      else refuse(response, 'refused', (error as Error).message)
    }
  }
  const server = createServer({ maxHeaderSize: longestHeaders }, attend)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Socket)
    response.on('finish', () => socket.end())
    attend(request, response, { socket, first })
  })
  // Jobs may take as long as they like; the front and the brain have limits of their own.
  server.requestTimeout = 0
  server.headersTimeout = 10_000
  server.timeout = 0
  server.keepAliveTimeout = 60_000
  return server
}

/** A connection that is to speak another protocol, and what has come of that. */
interface Upgrade {
  socket: Duplex
  first: Buffer
}

function isAttempt({ method, url, headers }: IncomingMessage, upgrade: Upgrade | undefined): boolean {
  if (url !== attemptPath) return false
  return upgrade ? headers.upgrade === attemptProtocol : method === 'POST'
}

async function serve(
  supervisor: Supervisor,
  head: AttemptHead,
  sent: AttemptBody,
  response: ServerResponse,
  full: 'refused' | 'throttled',
  upgrade: Upgrade | undefined,
): Promise<void> {
  const taken = supervisor.take(head, sent)
  if ('refused' in taken) return refuse(response, taken.full ? full : 'refused', taken.refused)
  let joined = false
  // The front lets go of an attempt that nobody waits for any more.
  response.on('close', () => {
    if (!response.writableFinished && !joined) taken.cancel()
  })
  if (response.destroyed || upgrade?.socket.destroyed) taken.cancel()
  const result = await taken.answer
  if (result.kind === 'result') return sendResult(result, taken, response)
  if (result.kind === 'http') return sendHttp(result, taken, response)
  if (result.kind !== 'upgraded') return sendFailure(result, taken, response)
  if (!upgrade) {
    result.socket.destroy()
    throw new Error('the attempt cannot speak another protocol')
  }
  joined = true
  response.detachSocket(upgrade.socket as Socket)
  join(upgrade.socket, upgrade.first, result)
}
