/**
 * The direct path: small requests go to workers without a word to the brain, which has delegated them, and which is told
 * in batches what they cost. See decisions/133-direct-path.md.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DirectOrder } from '../../wire/direct.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { AnswerStore } from '../answer-buffer.ts'
import type { FrontOverload } from '../overload/front-overload.ts'
import type { RequestProblem } from '../problem.ts'
import type { ClientNamer } from '../request/client-name.ts'
import { DirectRequest } from './direct-request.ts'

/** How often connections to programs are checked. */
const sweepMs = 100

/** Requests of one kind: to programs, or to workloads. */
export interface DirectRequests {
  update(order: DirectOrder): void
  /** Sends the request. `enter`: undefined if its client has too many. False: it must take the general path. */
  take(request: IncomingMessage, enter: () => DirectRequest | undefined): boolean
  sweep(): void
  /** True: no connection is open, and none will be opened before the next order. */
  readonly isOver: boolean
  /** Requests in progress are finished. */
  close(): void
}

export interface DirectPathParts {
  requests: DirectRequests
  limits: FrontLimits
  overload: FrontOverload
  clientOf: ClientNamer
  log(line: string): void
  /** Why no request is accepted; undefined: requests are accepted. */
  closed(): RequestProblem | undefined
}

export class DirectPath {
  readonly #parts: DirectPathParts
  #isOpen = false
  #closed = false
  #timer: NodeJS.Timeout | undefined

  constructor(parts: DirectPathParts) {
    this.#parts = parts
  }

  update(order: DirectOrder): void {
    if (this.#closed) return
    const { requests } = this.#parts
    this.#isOpen = order.names.length > 0 && order.workers.length > 0
    requests.update(order)
    if (this.#isOpen) this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
  }

  /** True: it will be answered. False: it takes the general path. */
  take(request: IncomingMessage, response: ServerResponse, front: DirectFront): boolean {
    if (!this.#isOpen) return false
    const { requests, overload, clientOf, closed, limits, log } = this.#parts
    if (!overload.isCalm || closed()) return false
    return requests.take(request, () => {
      const leave = overload.admit(clientOf(request))
      return leave && new DirectRequest(request, response, { ...front, limits, leave, log })
    })
  }

  /** Further requests take the general path; those in progress are finished. */
  close(): void {
    this.#isOpen = false
    this.#closed = true
    this.#parts.requests.close()
  }

  #sweep(): void {
    const { requests } = this.#parts
    requests.sweep()
    if (this.#isOpen || !requests.isOver) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** What the front's server provides. */
export interface DirectFront {
  answers: AnswerStore
  general(request: IncomingMessage, response: ServerResponse): void
}
