/** Routes of an existing server as targets. Requests are passed on unchanged, and their bodies while they arrive. */

import type { IncomingMessage } from 'node:http'
import type { CheckedRoute } from '../../config/check-routes.ts'
import { ReadBuffers } from '../../lib/read-buffers.ts'
import type { HttpRequest } from '../../wire/messages.ts'
import { RequestProblem } from '../problem.ts'
import { HttpTransport } from '../transports/http.ts'
import { requestHeaders } from '../transports/proxy-headers.ts'
import { type Body, type BodyOptions, headBytes } from './body.ts'
import { isSafeToRepeat } from './repeatable.ts'
import { isJsonType, type RouteQuestioner } from './route-question.ts'
import { describe, type FoundRoute, type RouteTable } from './route-table.ts'
import type { Asked, Service, TargetRequest } from './target.ts'
import type { IsTrusted } from './trusted-proxies.ts'

export interface RouteServiceParts {
  table: RouteTable
  question: RouteQuestioner
  body: BodyOptions
  /** Converts work from the units of a route's quotes to those of the brain. */
  inMicroseconds(route: string, work: number): number
  /** False: programs take several requests at a time, so none can be paused. */
  preemptible: boolean
  /** A short answer is held back for at most this time. */
  holdMs: number
  /** Whose forwarded headers are believed. */
  isTrusted: IsTrusted
}

export function routeService(parts: RouteServiceParts): Service {
  const { table, body } = parts
  const buffers = new ReadBuffers()
  return {
    // A body may be endless; it must only keep arriving.
    requestMs: 0,
    upgrades: true,
    list: () =>
      table.routes.map((route) => ({
        name: route.name,
        description: describe(route),
        path: route.pattern.text,
        methods: route.methods ?? [],
        ...(route.query && { query: route.query }),
      })),
    find(asked) {
      const found = table.find(asked.method, asked.url.path)
      return { body, read: (body) => read({ ...parts, buffers }, found, asked, body) }
    },
    quotedMethod,
  }
}

function quotedMethod(request: IncomingMessage): string {
  const { 'plimsoll-method': method = 'GET' } = request.headers
  if (typeof method === 'string' && /^[A-Z][A-Z-]*$/.test(method)) return method
  const given = String(method).slice(0, 100)
  throw new RequestProblem(400, 'bad-method', `plimsoll-method = ${given}: must be a method such as POST.`)
}

async function read(
  parts: RouteServiceParts & { buffers: ReadBuffers },
  found: FoundRoute,
  { request, client, method, url }: Asked,
  body: Body,
): Promise<TargetRequest> {
  const { route } = found
  if (isReadFirst(request, body, route)) await body.has(headBytes + 1)
  const head = body.complete ? await body.head() : undefined
  const inMicroseconds = (work: number) => parts.inMicroseconds(route.name, work)
  return {
    name: route.name,
    params: { method, target: url.text },
    hasBody: body.announced !== 0,
    question: () => {
      const { announced, bytes } = body
      return parts.question(found, method, url, request, { announced, bytes, head })
    },
    jobFacts: ({ work, low, high, unproven, memoryMb }) => ({
      work: inMicroseconds(work),
      low: inMicroseconds(low),
      high: inMicroseconds(high),
      ...(unproven && { unproven }),
      memoryMb,
      deadlineMs: route.deadlineMs,
      preemptible: route.preemptible && parts.preemptible,
      safeToRepeat: isSafeToRepeat(route, { method, headers: request.headers }),
    }),
    repeat: () => undefined,
    // No answer is shared, so the receiver is the client itself.
    transport() {
      const http = httpRequest(parts, { request, client, method, url })
      return new HttpTransport({ http, body, client, holdMs: parts.holdMs, buffers: parts.buffers })
    },
  }
}

function httpRequest({ isTrusted }: RouteServiceParts, { request, client, method, url }: Asked): HttpRequest {
  const { socket } = client
  const headers = requestHeaders(request, {
    ...{ isTrusted: isTrusted(request.socket.remoteAddress), host: url.host },
    upgrade: socket !== undefined,
  })
  return { method, target: url.text, headers, ...(socket && { upgrade: true as const }) }
}

/**
 * A short body is read before the estimate, so that a slow client delays nobody. A body of unknown length is read only
 * if features need it: its client may wait for an answer to its beginning.
 */
function isReadFirst(request: IncomingMessage, body: Body, { needsJson }: CheckedRoute): boolean {
  if (body.announced !== undefined) return body.announced <= headBytes
  return needsJson && isJsonType(request.headers['content-type'])
}
