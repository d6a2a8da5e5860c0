/** The door: HTTP in, a job for the brain, HTTP out. */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FrontLimits } from '../wire/front-settings.ts'
import { type OwnParts, serveOwn } from './built-in.ts'
import { watchConnections } from './connections.ts'
import { RequestProblem, sendProblem } from './problem.ts'
import { type AskParts, ask } from './request/ask.ts'
import { askRoute, type RouteParts } from './request/ask-route.ts'
import { type SubmitParts, submitRoute, submitWorkload } from './request/submit.ts'
import { targetOf } from './request/target.ts'
import { answerOn, wantsToSwitch } from './transports/upgrade.ts'

export const frontDefaults: Readonly<FrontLimits> = {
  maxBytes: 16 * 1024 * 1024,
  memoryBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  requestMs: 60_000,
  stallMs: 120_000,
  holdMs: 50,
}

export interface FrontParts extends AskParts, OwnParts, SubmitParts {
  limits: FrontLimits
  /** Of an own server; then there are no workloads. */
  routes?: RouteParts
  log(line: string): void
}

export function frontServer(parts: FrontParts): Server {
  const { limits, routes } = parts
  const options: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    requestTimeout: routes ? 0 : limits.requestMs,
    headersTimeout: Math.min(limits.requestMs, 20_000),
    // The default of 30 s would let slow clients be twice as slow.
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 60_000,
    ...(routes && { shouldUpgradeCallback: wantsToSwitch }),
  }
  const server = createServer(options, (request, response) => {
    owe(response)
    void serve(parts, request, response)
  })
  const owe = watchConnections(server)
  server.on('checkContinue', (request, response) => {
    owe(response)
    void serve(parts, request, response, { wanted: () => response.writeContinue() })
  })
  if (routes) {
    server.on('upgrade', (request, socket: Socket, head) => {
      const response = answerOn(request, socket, head)
      if (response) void serve(parts, request, response, { socket })
    })
  }
  return server
}

interface Special {
  /** Called when it is known that the body is wanted: a client may wait for that before it sends it. */
  wanted?: () => void
  /** The client wants to switch to another protocol. */
  socket?: Socket
}

async function serve(
  parts: FrontParts,
  request: IncomingMessage,
  response: ServerResponse,
  { wanted, socket }: Special = {},
): Promise<void> {
  try {
    const { routes } = parts
    if (!routes) {
      const url = parseUrl(request)
      if (url.pathname.startsWith('/-/')) return await serveOwn(parts, url, request, response, wanted)
      const asked = await ask(parts, '/', url, request, wanted)
      return await submitWorkload(parts, asked, request, response)
    }
    const target = targetOf(request)
    if (target.url.pathname.startsWith('/-/')) {
      return await serveOwn(parts, target.url, request, response, wanted)
    }
    const asked = await askRoute(routes, request, request.method ?? 'GET', target, wanted)
    submitRoute(parts, routes, asked, request, response, socket)
  } catch (error) {
    if (error instanceof RequestProblem) return sendProblem(response, error)
    // A client that hangs up in the middle of its request is nobody's fault.
    if (request.destroyed) return
    parts.log(`front: ${(error as Error).stack}`)
    sendProblem(response, new RequestProblem(500, 'internal', 'Something went wrong here; it was logged.'))
  }
}

function parseUrl(request: IncomingMessage): URL {
  try {
    const url = new URL(request.url ?? '/', 'http://front')
    // Also in full form, as a proxy would ask.
    decodeURIComponent(url.pathname)
    return url
  } catch {
    throw new RequestProblem(400, 'bad-url', 'The address of the request cannot be read.')
  }
}
