/** A worker's HTTP server: fronts send attempts, and receive the answer with its cost. */

import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { directProtocol } from '../../wire/direct-frames.ts'
import { termOf } from '../../wire/leading.ts'
import {
  type AttemptHead,
  attemptPath,
  attemptProtocol,
  channelProtocol,
  headers,
  healthPath,
} from '../../wire/messages.ts'
import { authorizer } from '../../wire/token.ts'
import type { AttemptBody } from '../attempt-state.ts'
import type { DirectDoor } from '../direct/direct-door.ts'
import type { Supervisor } from '../supervisor.ts'
import { bodyOf, headInHeader, readHead } from './attempt-head.ts'
import { ByteChannels } from './byte-channels.ts'
import { joinSockets } from './join-sockets.ts'
import { sendFailure, sendOutcome, sendResult } from './send-answer.ts'
import { sendHttp } from './send-http.ts'

/** An upgrade request contains the head of the client's request, up to 16 KiB, in a header. */
const maxHeaderBytes = 128 * 1024
/** Buffered per direction and connection before the sender has to wait. */
const bufferBytes = 256 * 1024

/** `ready` resolves when the brain has welcomed the worker. `full` is the outcome of attempts without a free slot. */
export function attemptServer(
  supervisor: Supervisor,
  token: string,
  ready: Promise<void>,
  { full = 'refused', direct }: { full?: 'refused' | 'throttled'; direct?: DirectDoor | undefined } = {},
): Server {
  const isAuthorized = authorizer(token)
  const channels = new ByteChannels()
  const handle = async (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => {
    const door = upgrade && isDirect(request) ? direct : undefined
    try {
      if (isPing(request)) response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
      else if (!isAuthorized(request.headers.authorization)) response.writeHead(401).end()
      else if (upgrade && isChannel(request)) openChannel(channels, request, response)
      else if (!door && !isAttempt(request, upgrade)) response.writeHead(404).end()
      else {
        await ready
        if (door) return openLink(door, upgrade!, response)
        const head = upgrade ? headInHeader(request) : await readHead(request)
        const sent = upgrade ? {} : bodyOf(request, head)
        await serve(supervisor, head, sent, { response, full, upgrade, channels })
      }
    } catch (error) {
      if (response.headersSent) response.destroy()
      else sendOutcome(response, 'refused', { message: (error as Error).message })
    }
  }
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, highWaterMark: bufferBytes },
    (request, response) => {
      response.once('finish', () => dropRest(request))
      void handle(request, response)
    },
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Socket)
    response.on('finish', () => socket.end())
    handle(request, response, { socket, first })
  })
  // No time limit for jobs here: the front and the brain enforce theirs.
  server.requestTimeout = 0
  server.headersTimeout = 10_000
  server.timeout = 0
  server.keepAliveTimeout = 60_000
  return server
}

/** A job may end before it has read its body. The next attempt on the connection comes after the rest. */
function dropRest(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed) return
  request.removeAllListeners('data').removeAllListeners('readable').resume()
}

/** A connection that switches to another protocol. */
interface Upgrade {
  socket: Duplex
  /** Bytes of the new protocol that have already arrived. */
  first: Buffer
}

function openLink(door: DirectDoor, { socket, first }: Upgrade, response: ServerResponse): void {
  response.detachSocket(socket as Socket)
  door.open(socket as Socket, first)
}

function openChannel(channels: ByteChannels, request: IncomingMessage, response: ServerResponse): void {
  const ticket = request.headers[headers.channel]
  response.detachSocket(request.socket)
  if (channels.open(ticket, request.socket)) return
  request.socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n')
}

/** Pings carry no token: that the process answers is all that they tell. */
function isPing({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && url === healthPath
}

function isDirect({ url, headers }: IncomingMessage): boolean {
  return url === attemptPath && headers.upgrade === directProtocol
}

function isChannel({ url, headers }: IncomingMessage): boolean {
  return url === attemptPath && headers.upgrade === channelProtocol
}

function isAttempt({ method, url, headers }: IncomingMessage, upgrade: Upgrade | undefined): boolean {
  if (url !== attemptPath) return false
  return upgrade ? headers.upgrade === attemptProtocol : method === 'POST'
}

interface Answered {
  response: ServerResponse
  full: 'refused' | 'throttled'
  upgrade: Upgrade | undefined
  channels: ByteChannels
}

async function serve(
  supervisor: Supervisor,
  head: AttemptHead,
  sent: AttemptBody,
  { response, full, upgrade, channels }: Answered,
): Promise<void> {
  if (termOf(head.epoch) < supervisor.term)
    return sendOutcome(response, 'refused', { message: 'this worker follows a newer leader' })
  const attempt = supervisor.take(head, sent)
  if ('refused' in attempt) {
    return sendOutcome(response, attempt.full ? full : 'refused', { message: attempt.refused })
  }
  let joined = false
  // The front closes the connection when the client no longer waits.
  response.on('close', () => {
    if (!response.writableFinished && !joined) attempt.cancel()
  })
  if (response.destroyed || upgrade?.socket.destroyed) attempt.cancel()
  const result = await attempt.answer
  if (result.kind === 'result') return sendResult(result, attempt, response)
  if (result.kind === 'http') return sendHttp(result, attempt, response, channels)
  if (result.kind !== 'upgraded') return sendFailure(result, attempt, response)
  if (!upgrade) {
    result.socket.destroy()
    throw new Error('the program switched protocols without being asked to')
  }
  joined = true
  response.detachSocket(upgrade.socket as Socket)
  joinSockets(upgrade.socket, upgrade.first, result)
}
