/** How a front takes leave of its clients so that none of them meets an error. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { RequestProblem } from '../../front/problem.ts'
import type { RequestsInHand } from './requests-in-hand.ts'

/** Idle connections are kept so long: closed at once, a request that is on its way would meet an error. */
const idleMs = 10_000
/** What was answered last is given so long to go out. */
const flushMs = 1_000

export interface Leave {
  /** How long what it has may take. */
  leaveMs: number
  /** True: idle connections are closed at once. */
  hurry: boolean
  /** What those are told whose time is up. */
  problem: RequestProblem
}

/**
 * Takes no new connections, answers what comes on those that are there, each time for the last time, and resolves when
 * none is left.
 */
export async function leaveClients(
  server: Server,
  inHand: RequestsInHand,
  { leaveMs, hurry, problem }: Leave,
): Promise<void> {
  const last = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', last)
  server.prependListener('checkContinue', last)
  inHand.closeAfterwards()
  const closed = Promise.withResolvers<void>()
  // That of HTTP would close idle connections, too.
  NetServer.prototype.close.call(server, () => closed.resolve())
  const began = performance.now()
  let limit: NodeJS.Timeout | undefined
  const sweep = setInterval(() => {
    const afterMs = performance.now() - began
    if (hurry || afterMs > Math.min(idleMs, leaveMs)) server.closeIdleConnections()
    if (afterMs <= leaveMs || limit) return
    inHand.abandon(problem)
    limit = setTimeout(() => server.closeAllConnections(), flushMs)
  }, 10)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
