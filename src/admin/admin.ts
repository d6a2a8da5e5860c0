/** The admin port, for operators, and the join port, for workers and fronts of other machines. Clients reach neither. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { RequestProblem, sendProblem } from '../front/problem.ts'
import { acceptJoining, type JoinHandlers } from '../wire/accept.ts'
import { type CacheParts, serveCache } from './cache.ts'
import { type AdminAccess, type GuardRefusal, joinRefusal, operatorRefusal, senderRefusal } from './guard.ts'
import { type RestartParts, serveRestart } from './restart.ts'
import { type RowsParts, serveRows } from './rows.ts'
import type { StoryHandler } from './why.ts'

export interface JoinParts extends CacheParts {
  /** For workers and fronts that connect. */
  joining: JoinHandlers
  /** A connection of a worker or front was refused. */
  refused(address: string, why: string): void
}

export interface AdminParts extends RestartParts, RowsParts, JoinParts {
  access: Omit<AdminAccess, 'tokens'>
  state(): unknown
  /** In the text format of Prometheus. */
  metrics(): string
  why: StoryHandler
}

/** Time allowed for the head of a request. */
const headMs = 10_000

/** Workers and fronts of this machine join here too. */
export function adminServer(parts: AdminParts): Server {
  const { tokens, joining: handlers, refused } = parts
  const access = { ...parts.access, tokens }
  const server = serverFor((request, response) => serve(parts, access, request, response))
  const check = (request: IncomingMessage) => senderRefusal(request, access) ?? joinRefusal(request)
  acceptJoining(server, { tokens, handlers, check, refused })
  return server
}

/** For connections over TLS, whose clients have proved that they know a token. */
export function joinServer(parts: JoinParts): Server {
  const { tokens, joining: handlers, refused } = parts
  const server = serverFor((request, response) => {
    if (!serveCache(parts, request, response)) throw notFound(request)
  })
  acceptJoining(server, { tokens, handlers, refused })
  return server
}

function serverFor(serveRequest: (request: IncomingMessage, response: ServerResponse) => void): Server {
  return createServer({ headersTimeout: headMs }, (request, response) => {
    try {
      serveRequest(request, response)
    } catch (error) {
      const internal = () =>
        new RequestProblem(500, 'internal', `An internal error: ${(error as Error).message}.`)
      sendProblem(response, error instanceof RequestProblem ? error : internal())
    }
  })
}

function serve(
  parts: AdminParts,
  access: AdminAccess,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  throwIf(senderRefusal(request, access))
  if (serveCache(parts, request, response)) return
  throwIf(operatorRefusal(request, access))
  if (serveRestart(parts, request, response)) return
  if (request.method !== 'GET') {
    const headers = { allow: 'GET' }
    throw new RequestProblem(405, 'wrong-method', `${request.method} is not allowed here; GET is.`, {
      headers,
    })
  }
  if (parts.why(request, response) || serveRows(parts, request, response)) return
  if (pathOf(request) === '/metrics') {
    return void response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(parts.metrics())
  }
  if (pathOf(request) !== '/api/state') throw notFound(request)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(parts.state())}\n`)
}

function throwIf(refusal: GuardRefusal | undefined): void {
  if (!refusal) return
  const { status, code, message } = refusal
  const headers = { connection: 'close', ...(status === 401 && { 'www-authenticate': 'Bearer' }) }
  throw new RequestProblem(status, code, message, { headers })
}

function notFound(request: IncomingMessage): RequestProblem {
  return new RequestProblem(404, 'not-found', `There is nothing at ${pathOf(request).slice(0, 200)}.`)
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0]!
}
