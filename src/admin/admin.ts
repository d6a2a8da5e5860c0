/** The admin port, for operators, workers and fronts. Clients never reach it. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { RequestProblem, sendProblem } from '../front/problem.ts'
import { acceptJoining, type JoinHandlers } from '../wire/accept.ts'
import { type CacheParts, serveCache } from './cache.ts'
import { type RestartParts, serveRestart } from './restart.ts'
import type { StoryHandler } from './why.ts'

export interface AdminParts extends RestartParts, CacheParts {
  state(): unknown
  /** In the text format of Prometheus. */
  metrics(): string
  why: StoryHandler
  /** For workers and fronts that connect. */
  joining: JoinHandlers
}

export function adminServer(parts: AdminParts): Server {
  const server = createServer((request, response) => {
    try {
      serve(parts, request, response)
    } catch (error) {
      const internal = () =>
        new RequestProblem(500, 'internal', `An internal error: ${(error as Error).message}.`)
      sendProblem(response, error instanceof RequestProblem ? error : internal())
    }
  })
  acceptJoining(server, parts.token, parts.joining)
  return server
}

function serve(parts: AdminParts, request: IncomingMessage, response: ServerResponse): void {
  const { state, why } = parts
  if (serveCache(parts, request, response) || serveRestart(parts, request, response)) return
  if (request.method !== 'GET') {
    const headers = { allow: 'GET' }
    throw new RequestProblem(405, 'wrong-method', `${request.method} is not allowed here; GET is.`, {
      headers,
    })
  }
  if (why(request, response)) return
  const path = request.url?.split('?')[0] ?? ''
  if (path === '/metrics') {
    return void response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(parts.metrics())
  }
  if (path !== '/api/state') {
    throw new RequestProblem(404, 'not-found', `There is nothing at ${path.slice(0, 200)}.`)
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(state())}\n`)
}
