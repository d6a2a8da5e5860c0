/** `GET /api/rows?preset=P&limit=N` of the admin port: the rows of a published system, by workload. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RequestProblem, sendProblem } from '../front/problem.ts'

export interface RowsParts {
  /** Rejects with a `ConfigError` for an unknown preset or an impossible limit. */
  rows(preset: string, limit: number): Promise<unknown>
}

const path = '/api/rows'
const usualLimit = 20

/** Serves requests for rows; false: the request is for something else. */
export function serveRows({ rows }: RowsParts, request: IncomingMessage, response: ServerResponse): boolean {
  const [pathname, query] = (request.url ?? '').split('?')
  if (pathname !== path) return false
  const searchParams = new URLSearchParams(query)
  const limit = Number(searchParams.get('limit') ?? usualLimit)
  rows(searchParams.get('preset') ?? '', limit).then(
    (found) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify(found)}\n`)
    },
    (error: Error & { code?: string }) => {
      const isWrong = error.code === 'CONFIG'
      const [status, code] = isWrong ? [400, 'bad-request'] : [500, 'internal']
      sendProblem(response, new RequestProblem(status as number, code as string, error.message))
    },
  )
  return true
}
