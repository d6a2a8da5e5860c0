/** The door: HTTP in, parameters checked, a job for the brain, HTTP out. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Estimator } from '../estimate/estimator.ts'
import type { Job } from '../model.ts'
import type { Workload } from '../workload.ts'
import { type BodyLimits, type KeptBody, keepBody } from './body.ts'
import { watchConnections } from './connections.ts'
import type { ExchangeParts } from './exchange.ts'
import { newJobId } from './job-id.ts'
import { isJson, readParameters } from './params.ts'
import { RequestProblem, sendProblem } from './problem.ts'

export interface FrontLimits extends BodyLimits {
  /** Largest request head. */
  headerBytes: number
  /** A request must have arrived whole within this time. */
  requestMs: number
  /** A client that takes nothing of its answer for so long is cut off. */
  stallMs: number
}

export const frontDefaults: Readonly<FrontLimits> = {
  maxBytes: 16 * 1024 * 1024,
  memoryBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  requestMs: 60_000,
  stallMs: 120_000,
}

export interface FrontParts {
  workloads: ReadonlyMap<string, Workload>
  estimator: Estimator
  limits: FrontLimits
  /** The cluster's own time, on which deadlines stand. */
  now(): number
  /** Undefined: all is well. Else why nothing is taken. */
  closed(): RequestProblem | undefined
  isReady(): boolean
  submit(parts: Omit<ExchangeParts, 'tell' | 'over' | 'token'>): void
  log(line: string): void
}

export function frontServer(parts: FrontParts): Server {
  const { limits } = parts
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      requestTimeout: limits.requestMs,
      headersTimeout: Math.min(limits.requestMs, 20_000),
      // The default of 30 s would let slow clients be twice as slow.
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      owe(response)
      void serve(parts, request, response)
    },
  )
  const owe = watchConnections(server)
  server.on('checkContinue', (request, response) => {
    owe(response)
    void serve(parts, request, response, () => response.writeContinue())
  })
  return server
}

/** `wanted` is called when it is known that the body is: a client may wait for that before it sends it. */
async function serve(
  parts: FrontParts,
  request: IncomingMessage,
  response: ServerResponse,
  wanted?: () => void,
): Promise<void> {
  let body: KeptBody | undefined
  try {
    const url = parseUrl(request)
    if (url.pathname.startsWith('/-/')) return own(parts, url.pathname, request, response)
    const workload = route(parts, url.pathname, request)
    const closed = parts.closed()
    if (closed) throw closed
    body = await keepBody(request, parts.limits, wanted)
    const kept = body
    const { raw, checked } = await readParameters(workload, request, url.searchParams, kept)
    const began = performance.now()
    const sendBody = !isJson(request)
    const question = { workload: workload.name, params: checked, bodyBytes: sendBody ? kept.bytes : 0 }
    const { work, low, high, memoryMb } = parts.estimator.estimate(question)
    const deadlineAt = deadline(request, parts.now())
    const client = request.socket.remoteAddress
    const job: Job = {
      id: newJobId(),
      workload: workload.name,
      work,
      low,
      high,
      memoryMb,
      ...(client !== undefined && { client }),
      ...(deadlineAt !== undefined && { deadlineAt }),
      ...(!workload.safeToRepeat(checked) && { safeToRepeat: false }),
      ...(!workload.preemptible && { preemptible: false }),
    }
    response.on('close', () => void kept.discard())
    if (response.destroyed) return void kept.discard()
    parts.submit({
      job,
      params: raw,
      body: kept,
      sendBody,
      request,
      response,
      stallMs: parts.limits.stallMs,
      estimateMs: performance.now() - began,
    })
  } catch (error) {
    await body?.discard()
    if (error instanceof RequestProblem) return sendProblem(response, error)
    // A client that hangs up in the middle of its request is nobody's fault.
    if (request.destroyed) return
    parts.log(`front: ${(error as Error).stack}`)
    sendProblem(response, new RequestProblem(500, 'internal', 'Something went wrong here; it was logged.'))
  }
}

/** The paths that are not workloads. */
function own(parts: FrontParts, path: string, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw wrongMethod(request, 'GET, HEAD')
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

function route(parts: FrontParts, path: string, request: IncomingMessage): Workload {
  const workload = parts.workloads.get(decodeURIComponent(path).slice(1))
  if (!workload) {
    const names = [...parts.workloads.keys()].map((name) => `/${name}`)
    throw new RequestProblem(
      404,
      'unknown-workload',
      `There is no workload at ${path.slice(0, 200)}. There are: ${names.join(', ')}.`,
    )
  }
  if (!['GET', 'HEAD', 'POST'].includes(request.method ?? '')) throw wrongMethod(request, 'GET, HEAD, POST')
  return workload
}

function wrongMethod(request: IncomingMessage, allow: string): RequestProblem {
  return new RequestProblem(
    405,
    'wrong-method',
    `${request.method} is not allowed here; these are: ${allow}.`,
    {
      headers: { allow },
    },
  )
}

/** Milliseconds from now, as a number in the `plimsoll-deadline` header. */
function deadline(request: IncomingMessage, now: number): number | undefined {
  const given = request.headers['plimsoll-deadline']
  if (given === undefined) return undefined
  const ms = Number(given)
  if (typeof given === 'string' && given.trim() !== '' && ms > 0 && ms < Infinity) return now + ms
  throw new RequestProblem(
    400,
    'bad-deadline',
    `plimsoll-deadline = ${String(given).slice(0, 100)}: must be a number of milliseconds, more than 0.`,
  )
}
