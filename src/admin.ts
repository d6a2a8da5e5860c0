/** The admin port: what operators and workers reach, never clients. */

import { createServer, type Server } from 'node:http'
import { acceptWorkers, type Connection } from './wire/accept.ts'

export interface AdminParts {
  token: string
  state(): unknown
  onConnection(connection: Connection): void
}

export function adminServer({ token, state, onConnection }: AdminParts): Server {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    const [status, body] =
      request.method !== 'GET'
        ? [405, { detail: `${request.method} is not allowed here` }]
        : path === '/api/state'
          ? [200, state()]
          : [404, { detail: `there is nothing at ${path}` }]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify(body)}\n`)
  })
  acceptWorkers(server, token, onConnection)
  return server
}
