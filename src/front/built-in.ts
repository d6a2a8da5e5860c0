/** The paths of the public port that are not workloads: `/-/…`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Question, Quote } from '../estimate/estimator.ts'
import { RequestProblem } from './problem.ts'
import { type AskParts, allow, ask } from './request/ask.ts'
import { askRoute, type RouteParts } from './request/ask-route.ts'
import { describe } from './request/route-table.ts'
import { targetOf } from './request/target.ts'

export interface OwnParts extends AskParts {
  routes?: RouteParts
  isReady(): boolean
  /** All that is told of what a request would cost, as JSON, or a promise of it. */
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
    const { question, quote, body } = parts.routes
      ? await quoteRoute(parts.routes, request, wanted)
      : await ask(parts, estimatePath, url, request, wanted)
    await body.discard()
    return sendJson(response, 200, await parts.tellQuote(question, quote))
  }
  allow(request, 'GET', 'HEAD')
  if (path === '/-/health') return sendJson(response, 200, { status: 'ok' })
  if (path === '/-/ready') {
    const ready = parts.isReady()
    return sendJson(response, ready ? 200 : 503, { ready })
  }
  if (path === '/-/workloads') {
    return sendJson(response, 200, { workloads: listOf(parts) })
  }
  throw new RequestProblem(404, 'not-found', `There is nothing at ${path}.`)
}

/** A request that is only asked about stands behind the path; its method, if it is not GET, in a header. */
function quoteRoute(routes: RouteParts, request: IncomingMessage, wanted?: () => void) {
  const { 'plimsoll-method': method = 'GET' } = request.headers
  if (typeof method !== 'string' || !/^[A-Z][A-Z-]*$/.test(method)) {
    const given = String(method).slice(0, 100)
    throw new RequestProblem(400, 'bad-method', `plimsoll-method = ${given}: must be a method such as POST.`)
  }
  return askRoute(routes, request, method, targetOf(request, estimatePath.slice(0, -1)), wanted)
}

function listOf({ workloads, routes }: OwnParts): { name: string; description: string; path: string }[] {
  if (routes) {
    return routes.table.routes.map((route) => ({
      name: route.name,
      description: describe(route),
      path: route.pattern.text,
    }))
  }
  return [...workloads.values()].map(({ name, description }) => ({ name, description, path: `/${name}` }))
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = `${JSON.stringify(value)}\n`
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
