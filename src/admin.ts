/** The admin port: what operators and workers reach, never clients. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { WhyTeller } from './admin-why.ts'
import { RequestProblem, sendProblem } from './front/problem.ts'
import { acceptWorkers, type Connection } from './wire/accept.ts'

export interface AdminParts {
  token: string
  state(): unknown
  why: WhyTeller
  onConnection(connection: Connection): void
}

export function adminServer(parts: AdminParts): Server {
  const server = createServer((request, response) => {
    try {
      serve(parts, request, response)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      sendProblem(response, error)
    }
  })
  acceptWorkers(server, parts.token, parts.onConnection)
  return server
}

function serve({ state, why }: AdminParts, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET') {
    const headers = { allow: 'GET' }
    throw new RequestProblem(405, 'wrong-method', `${request.method} is not allowed here; GET is.`, {
      headers,
    })
  }
  if (why(request, response)) return
  const path = request.url?.split('?')[0] ?? ''
  if (path !== '/api/state') {
    throw new RequestProblem(404, 'not-found', `There is nothing at ${path.slice(0, 200)}.`)
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(state())}\n`)
}
