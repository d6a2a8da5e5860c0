/** What a request to a program is: its route, its body as it comes, and what it is expected to cost. */

import type { IncomingMessage } from 'node:http'
import type { CheckedRoute } from '../../config/check-routes.ts'
import type { Estimator, Question, Quote } from '../../estimate/estimator.ts'
import type { RequestProblem } from '../problem.ts'
import { headBytes } from './body.ts'
import { GrowingBody, type GrowingLimits } from './growing-body.ts'
import { isJsonType, type RouteQuestioner } from './route-question.ts'
import type { RouteTable } from './route-table.ts'
import type { Target } from './target.ts'

export interface RouteParts {
  table: RouteTable
  question: RouteQuestioner
  estimator: Estimator
  limits: GrowingLimits
  /** Undefined: all is well. Else why nothing is taken. */
  closed(): RequestProblem | undefined
  /** Work in the units of a quote of this route, in those of the brain. */
  inMicroseconds(route: string, work: number): number
  /** False: programs take several requests at a time, so that none can be paused. */
  preemptible: boolean
}

export interface AskedRoute {
  route: CheckedRoute
  method: string
  target: Target
  /** The caller's, to be discarded. */
  body: GrowingBody
  question: Question
  quote: Quote
  estimateMs: number
}

/** Rejects with what is wrong with the request; then nothing is kept. */
export async function askRoute(
  parts: RouteParts,
  request: IncomingMessage,
  method: string,
  target: Target,
  wanted?: () => void,
): Promise<AskedRoute> {
  const found = parts.table.find(method, target.url.pathname)
  const closed = parts.closed()
  if (closed) throw closed
  const body = new GrowingBody(request, parts.limits, wanted)
  try {
    if (isReadFirst(request, body, found.route)) await body.has(headBytes + 1)
    const began = performance.now()
    const question = parts.question(found, method, target, request, body)
    const quote = parts.estimator.estimate(question)
    const estimateMs = performance.now() - began
    return { route: found.route, method, target, body, question, quote, estimateMs }
  } catch (error) {
    body.discard()
    throw error
  }
}

/**
 * Short bodies are known before the cost is asked for, so that a slow client holds up nobody. A body of unknown length
 * may belong to a client that waits for an answer to its beginning: it is read only where features need it.
 */
function isReadFirst(request: IncomingMessage, body: GrowingBody, { needsJson }: CheckedRoute): boolean {
  if (body.announced !== undefined) return body.announced <= headBytes
  return needsJson && isJsonType(request.headers['content-type'])
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])

/** Whether an attempt that may have begun can be tried again. */
export function isSafeToRepeat(route: CheckedRoute, method: string, request: IncomingMessage): boolean {
  return route.repeat ?? (safeMethods.has(method) || request.headers['idempotency-key'] !== undefined)
}
