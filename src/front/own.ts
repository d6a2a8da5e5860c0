/** The paths of the public port that are not workloads: `/-/…`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Question, Quote } from '../estimate/estimator.ts'
import { type AskParts, allow, ask } from './ask.ts'
import { RequestProblem } from './problem.ts'

export interface OwnParts extends AskParts {
  isReady(): boolean
  /** All that is told of what a request would cost, as JSON. */
  tellQuote(question: Question, quote: Quote): unknown
}

const estimatePath = '/-/estimate/'

export async function serveOwn(
  parts: OwnParts,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  wanted?: () => void,
): Promise<void> {
  const path = url.pathname
  if (path.startsWith(estimatePath)) {
    const { question, quote, body } = await ask(parts, estimatePath, url, request, wanted)
    await body.discard()
    return sendJson(response, 200, parts.tellQuote(question, quote))
  }
  allow(request, 'GET', 'HEAD')
  if (path === '/-/health') return sendJson(response, 200, { status: 'ok' })
  if (path === '/-/ready') {
    const ready = parts.isReady()
    return sendJson(response, ready ? 200 : 503, { ready })
  }
  if (path === '/-/workloads') {
    const list = [...parts.workloads.values()].map(({ name, description }) => ({
      name,
      description,
      path: `/${name}`,
    }))
    return sendJson(response, 200, { workloads: list })
  }
  throw new RequestProblem(404, 'not-found', `There is nothing at ${path}.`)
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = `${JSON.stringify(value)}\n`
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
