/** `POST /api/restart` of the admin port: a rolling restart, reported step by step as lines of JSON. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RequestProblem, sendProblem } from '../front/problem.ts'

export interface RestartWhat {
  fronts: boolean
  workers: boolean
  /** True: nothing is restarted unless the code has changed. Default false. */
  ifChanged?: boolean
}

/**
 * A front or worker was replaced; without `by`, a worker drains and needs no replacement. `finishing`: requests that are
 * still in progress at the old front. `version`: a new version of the code has been loaded, and its workers begin to
 * replace the others.
 */
export type RestartStep =
  | { front: string; by: string; finishing?: number }
  | { worker: string; by?: string }
  | { version: 'begins' }

export interface RestartParts {
  restart(what: RestartWhat): AsyncGenerator<RestartStep>
}

/** The last line. */
export type RestartEnd = { done: true } | { error: string }

const path = '/api/restart'
const mostBytes = 1_000

/** Serves requests for a restart of authorized operators; false: the request is for something else. Throws a problem if it is malformed. */
export function serveRestart(
  parts: RestartParts,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (request.url !== path || request.method !== 'POST') return false
  const { 'content-type': type = '' } = request.headers
  // Browsers let any page send other types without a preflight request.
  if (!/^application\/json\b/.test(type)) {
    throw new RequestProblem(415, 'wrong-type', `content-type = ${type}: must be application/json.`)
  }
  void run(parts, request, response)
  return true
}

async function run(
  { restart }: RestartParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (line: RestartStep | RestartEnd) => void response.write(`${JSON.stringify(line)}\n`)
  try {
    const what = await readWhat(request)
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders()
    for await (const step of restart(what)) say(step)
    say({ done: true })
    response.end()
  } catch (error) {
    if (error instanceof RequestProblem) return sendProblem(response, error)
    say({ error: (error as Error).message })
    response.end()
  }
}

async function readWhat(request: IncomingMessage): Promise<RestartWhat> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes) break
  }
  const wrong = () =>
    new RequestProblem(
      400,
      'bad-request',
      'The body must be {"fronts":true or false,"workers":true or false}.',
    )
  try {
    const { fronts, workers } = JSON.parse(Buffer.concat(chunks).toString()) as Partial<RestartWhat>
    if (typeof fronts !== 'boolean' || typeof workers !== 'boolean') throw wrong()
    return { fronts, workers }
  } catch {
    throw wrong()
  }
}
