/** Drains a front so that none of its clients sees an error. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { RequestProblem } from '../../front/problem.ts'
import type { PendingRequests } from './pending-requests.ts'

/** Idle connections stay open this long: a request that is on its way must not meet a closed one. */
const idleMs = 10_000
/** Time allowed for the last answers to be sent. */
const flushMs = 1_000

export interface Leave {
  /** Time allowed for pending requests. */
  leaveMs: number
  /** True: closes idle connections at once. */
  hurry: boolean
  /** Answer to requests that exceed `leaveMs`. */
  problem: RequestProblem
}

/** Accepts no new connections and closes each existing one after its next answer. Resolves when none is left. */
export async function leaveClients(
  server: Server,
  pending: PendingRequests,
  { leaveMs, hurry, problem }: Leave,
): Promise<void> {
  const last = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', last)
  server.prependListener('checkContinue', last)
  pending.closeAfterwards()
  const closed = Promise.withResolvers<void>()
  // The HTTP server's own `close` would also close idle connections.
  NetServer.prototype.close.call(server, () => closed.resolve())
  const began = performance.now()
  let limit: NodeJS.Timeout | undefined
  const sweep = setInterval(() => {
    const afterMs = performance.now() - began
    if (hurry || afterMs > Math.min(idleMs, leaveMs)) server.closeIdleConnections()
    if (afterMs <= leaveMs || limit) return
    pending.abandon(problem)
    limit = setTimeout(() => server.closeAllConnections(), flushMs)
  }, 10)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
