/**
 * The direct path: small requests go to workers without a word to the brain, which has delegated them, and which is told
 * in batches what they cost. See decisions/133-direct-path.md.
 */

import type { DirectOrder, DirectStanding } from '../../wire/direct.ts'
import type { FrontOverload } from '../overload/front-overload.ts'
import type { RequestProblem } from '../problem.ts'
import type { ClientNamer } from '../request/client-name.ts'
import type { RequestHead } from '../request/request-head.ts'
import { type DirectExchange, DirectRequest } from './direct-request.ts'

/** How often connections to programs are checked. */
const sweepMs = 100

/** Requests of one kind: to programs, or to workloads. */
export interface DirectRequests {
  update(order: DirectOrder): void
  /** Sends the request. `enter`: undefined if its client has too many. False: it must take the general path. */
  take(request: RequestHead, enter: () => DirectRequest | undefined): boolean
  /** Requests with a longer body are not taken. */
  readonly longestBody: number
  sweep(): void
  /** True: no connection is open, and none will be opened before the next order. */
  readonly isOver: boolean
  /** Workers that get no more requests, and have some in progress. */
  readonly leaving: readonly string[]
  /** Requests in progress are finished. */
  close(): void
}

export interface DirectPathParts {
  requests: DirectRequests
  overload: FrontOverload
  clientOf: ClientNamer
  /** An order is followed, or requests to workers that it does not name have ended. */
  stands(standing: DirectStanding): void
  log(line: string): void
  /** Why no request is accepted; undefined: requests are accepted. */
  closed(): RequestProblem | undefined
}

export class DirectPath {
  readonly #parts: DirectPathParts
  #isOpen = false
  #closed = false
  #standing: DirectStanding = { seq: 0, workers: [] }
  #timer: NodeJS.Timeout | undefined

  constructor(parts: DirectPathParts) {
    this.#parts = parts
  }

  update(order: DirectOrder): void {
    const { requests } = this.#parts
    if (!this.#closed) {
      this.#isOpen = order.names.length > 0 && order.workers.length > 0
      requests.update(order)
      if (this.#isOpen) this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
    }
    this.#stand(order.seq, true)
  }

  /** False: no request is taken now. */
  get isOpen(): boolean {
    return this.#isOpen && this.#parts.overload.isCalm && !this.#parts.closed()
  }

  /** Requests with a longer body take the general path. */
  get longestBody(): number {
    return this.#parts.requests.longestBody
  }

  /** True: the exchange will be used to answer it. False: it takes the general path. Call only while it is open. */
  take(request: RequestHead, exchange: DirectExchange): boolean {
    const { requests, overload, clientOf, log } = this.#parts
    return requests.take(request, () => {
      const leave = overload.admit(clientOf(request))
      return leave && new DirectRequest(request, exchange, { leave, log })
    })
  }

  /** Further requests take the general path; those in progress are finished. */
  close(): void {
    this.#isOpen = false
    this.#closed = true
    this.#parts.requests.close()
  }

  /** `must`: also if nothing has changed. */
  #stand(seq: number, must = false): void {
    const workers = [...this.#parts.requests.leaving]
    const before = this.#standing.workers
    if (!must && workers.length === before.length && workers.every((each) => before.includes(each))) return
    this.#standing = { seq, workers }
    this.#parts.stands(this.#standing)
  }

  #sweep(): void {
    const { requests } = this.#parts
    requests.sweep()
    this.#stand(this.#standing.seq)
    if (this.#isOpen || !requests.isOver) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
