/** Protects a front: holds bodies and refuses connections while its process is overloaded, and limits each client. */

import type { IncomingMessage, Server } from 'node:http'
import type { FrontLimits } from '../../wire/front-settings.ts'
import { overloaded, RequestProblem, retryAfter } from '../problem.ts'
import { clientNamer } from '../request/client-name.ts'
import { ClientCounts } from './client-counts.ts'
import { gateConnections } from './connection-gate.ts'
import { HeldBodies } from './held-bodies.ts'
import type { OverloadWatch } from './overload-watch.ts'

/** A body waits this long for the end of an overload. */
const usualHoldMs = 10_000

export interface FrontOverloadParts {
  watch: OverloadWatch
  limits: Pick<FrontLimits, 'clientConnections' | 'clientRequests'>
  holdMs?: number
}

export class FrontOverload {
  readonly #watch: OverloadWatch
  readonly #limits: FrontOverloadParts['limits']
  readonly #connections: ClientCounts
  readonly #requests: ClientCounts
  readonly #bodies: HeldBodies
  readonly #addressOf = clientNamer('address')

  constructor({ watch, limits, holdMs = usualHoldMs }: FrontOverloadParts) {
    this.#watch = watch
    this.#limits = limits
    this.#connections = new ClientCounts(limits.clientConnections)
    this.#requests = new ClientCounts(limits.clientRequests)
    this.#bodies = new HeldBodies(holdMs)
    watch.onLook(() => {
      if (watch.step === 0) this.#bodies.admitSome()
    })
  }

  /** `isPlain`: a client of the server can read why it is refused. Call after other listeners are added to it. */
  guard(server: Server, isPlain = true): void {
    gateConnections(server, isPlain, (socket) => {
      const release =
        this.#watch.step < 3 && this.#connections.take(this.#addressOf({ socket, headersDistinct: {} }))
      if (release) {
        socket.once('close', release)
        return undefined
      }
      this.#watch.count('refusedConnections')
      return this.#watch.step < 3 ? this.#tooManyConnections() : overloaded(this.#watch.retryAfterMs(), true)
    })
  }

  /** True: there is no overload. */
  get isCalm(): boolean {
    return this.#watch.step === 0
  }

  /** True: connections are to be closed after their next answer. */
  get closesConnections(): boolean {
    return this.#watch.step === 3
  }

  /** Counts a request of this client until the returned function is called. Undefined: it has too many. */
  admit(client: string): (() => void) | undefined {
    return this.#requests.take(client)
  }

  /** Counts a request of this client until the returned function is called. Throws a 429 if it has too many. */
  enter(client: string): () => void {
    const release = this.admit(client)
    if (release) return release
    this.#watch.count('refusedRequests')
    throw new RequestProblem(
      429,
      'too-many-requests',
      `Client ${client} has ${this.#limits.clientRequests} requests in progress, the maximum.`,
      { headers: retryAfter(this.#requests.retryAfterMs()) },
    )
  }

  /** Resolves when the body of this request may be read. Rejects with a 503 if the overload lasts. */
  async admitBody(request: IncomingMessage): Promise<void> {
    if (!this.#bodies.mustWait(request, this.#watch.step > 0)) return
    this.#watch.held++
    try {
      if (await this.#bodies.wait(request)) return
    } finally {
      this.#watch.held--
    }
    if (request.destroyed) throw new Error('the client has left')
    this.#watch.count('shed')
    // The rest of the body is not read.
    throw overloaded(this.#watch.retryAfterMs(), true)
  }

  #tooManyConnections(): RequestProblem {
    return new RequestProblem(
      429,
      'too-many-connections',
      `Your address has ${this.#limits.clientConnections} open connections, the maximum.`,
      { headers: retryAfter(this.#connections.retryAfterMs()) },
    )
  }
}
