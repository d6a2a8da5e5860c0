/**
 * The direct path: small requests go to workers without a word to the brain, which has delegated them, and which is told
 * in batches what they cost. See decisions/133-direct-path.md.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DirectOrder } from '../../wire/direct.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { AnswerStore } from '../answer-buffer.ts'
import type { FrontOverload } from '../overload/front-overload.ts'
import { RequestProblem } from '../problem.ts'
import type { ClientNamer } from '../request/client-name.ts'
import { DirectRequest } from './direct-request.ts'

/** How often idle connections are checked. */
const sweepMs = 1_000

/** Requests of one kind: to programs, or to workloads. */
export interface DirectRequests {
  update(order: DirectOrder): void
  /** Sends the request. False: it must take the general path. */
  take(request: IncomingMessage, direct: () => DirectRequest): boolean
  sweep(): void
  close(): void
}

export interface DirectPathParts {
  requests: DirectRequests
  limits: FrontLimits
  overload: FrontOverload
  clientOf: ClientNamer
  /** Why no request is accepted; undefined: requests are accepted. */
  closed(): RequestProblem | undefined
}

export class DirectPath {
  readonly #parts: DirectPathParts
  #isOpen = false
  #timer: NodeJS.Timeout | undefined

  constructor(parts: DirectPathParts) {
    this.#parts = parts
  }

  update(order: DirectOrder): void {
    const { requests } = this.#parts
    this.#isOpen = order.names.length > 0 && order.workers.length > 0
    requests.update(order)
    this.#timer ??= setInterval(() => requests.sweep(), sweepMs).unref()
  }

  /** True: it will be answered. False: it takes the general path. */
  take(request: IncomingMessage, response: ServerResponse, front: DirectFront): boolean {
    if (!this.#isOpen || request.url!.startsWith('/-/')) return false
    const { requests, overload, clientOf, closed, limits } = this.#parts
    if (!overload.isCalm || closed()) return false
    try {
      return requests.take(request, () => {
        const leave = overload.enter(clientOf(request))
        return new DirectRequest(request, response, { ...front, limits, leave })
      })
    } catch (error) {
      // The client has too many requests in progress: the general path says so.
      if (error instanceof RequestProblem) return false
      throw error
    }
  }

  /** Further requests take the general path. */
  close(): void {
    this.#isOpen = false
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#parts.requests.close()
  }
}

/** What the front's server provides. */
export interface DirectFront {
  answers: AnswerStore
  general(request: IncomingMessage, response: ServerResponse): void
}
