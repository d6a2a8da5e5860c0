/** Reads a request: its target, its body as far as the estimate needs it, and its estimate. */

import type { Estimator, Question, Quote } from '../../estimate/estimator.ts'
import type { FrontOverload } from '../overload/front-overload.ts'
import type { RequestProblem } from '../problem.ts'
import { Body } from './body.ts'
import type { BodyBudget } from './body-budget.ts'
import type { ClientNamer } from './client-name.ts'
import type { Asked, Service, TargetRequest } from './target.ts'

export interface RequestParts {
  service: Service
  estimator: Estimator
  clientOf: ClientNamer
  /** The space for all bodies. */
  bodies: BodyBudget
  /** Why no request is accepted; undefined: requests are accepted. */
  closed(): RequestProblem | undefined
  overload?: Pick<FrontOverload, 'admitBody'>
}

export interface EstimatedRequest {
  target: TargetRequest
  /** Owned by the caller, who must discard it. */
  body: Body
  question: Question
  quote: Quote
  estimateMs: number
}

/** Rejects with a problem if the request cannot be accepted; then nothing of its body is kept. */
export async function readRequest(parts: RequestParts, asked: Asked): Promise<EstimatedRequest> {
  const { service, estimator, bodies } = parts
  const found = service.find(asked)
  const closed = parts.closed()
  if (closed) throw closed
  await parts.overload?.admitBody(asked.request)
  const body = new Body(asked.request, found.body, bodies, asked.sendContinue)
  try {
    const target = await found.read(body, parts.clientOf(asked.request))
    const began = performance.now()
    const question = target.question()
    if (estimator.look) await estimator.look(question)
    const quote = estimator.estimate(question)
    return { target, body, question, quote, estimateMs: performance.now() - began }
  } catch (error) {
    body.discard()
    throw error
  }
}
