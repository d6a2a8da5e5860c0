/** The door: HTTP in, parameters checked, a job for the brain, HTTP out. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Job } from '../model.ts'
import { type Asked, type AskParts, ask } from './ask.ts'
import type { BodyLimits } from './body.ts'
import type { ClientNamer } from './client-name.ts'
import { watchConnections } from './connections.ts'
import type { ExchangeParts } from './exchange.ts'
import { newJobId } from './job-id.ts'
import { type OwnParts, serveOwn } from './own.ts'
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

export interface FrontParts extends AskParts, OwnParts {
  limits: FrontLimits
  clientOf: ClientNamer
  /** The cluster's own time, on which deadlines stand. */
  now(): number
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
  try {
    const url = parseUrl(request)
    if (url.pathname.startsWith('/-/')) return await serveOwn(parts, url, request, response, wanted)
    const asked = await ask(parts, '/', url, request, wanted)
    await submit(parts, asked, request, response)
  } catch (error) {
    if (error instanceof RequestProblem) return sendProblem(response, error)
    // A client that hangs up in the middle of its request is nobody's fault.
    if (request.destroyed) return
    parts.log(`front: ${(error as Error).stack}`)
    sendProblem(response, new RequestProblem(500, 'internal', 'Something went wrong here; it was logged.'))
  }
}

async function submit(
  parts: FrontParts,
  asked: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { workload, params, checked, body, sendBody, question, quote, estimateMs } = asked
  try {
    const deadlineMs = deadline(request) ?? workload.deadlineMs
    const job: Job = {
      id: newJobId(),
      workload: workload.name,
      work: quote.work,
      low: quote.low,
      high: quote.high,
      memoryMb: quote.memoryMb,
      client: parts.clientOf(request),
      ...(deadlineMs !== undefined && { deadlineAt: parts.now() + deadlineMs }),
      ...(!workload.safeToRepeat(checked) && { safeToRepeat: false }),
      ...(!workload.preemptible && { preemptible: false }),
    }
    response.on('close', () => void body.discard())
    if (response.destroyed) return void body.discard()
    const { stallMs } = parts.limits
    parts.submit({ job, question, quote, params, body, sendBody, request, response, stallMs, estimateMs })
  } catch (error) {
    await body.discard()
    throw error
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

/** Milliseconds from now, as a number in the `plimsoll-deadline` header. */
function deadline(request: IncomingMessage): number | undefined {
  const given = request.headers['plimsoll-deadline']
  if (given === undefined) return undefined
  const ms = Number(given)
  if (typeof given === 'string' && given.trim() !== '' && ms > 0 && ms < Infinity) return ms
  throw new RequestProblem(
    400,
    'bad-deadline',
    `plimsoll-deadline = ${String(given).slice(0, 100)}: must be a number of milliseconds, more than 0.`,
  )
}
