/** How a front takes leave of its clients so that none of them meets an error. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { stoppingProblem } from '../stopping.ts'
import type { RequestsInHand } from './requests-in-hand.ts'

/** Answers of this server that are not complete. */
export function openAnswers(server: Server): ReadonlySet<ServerResponse> {
  const open = new Set<ServerResponse>()
  const note = (_request: IncomingMessage, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
  }
  server.prependListener('request', note)
  server.prependListener('checkContinue', note)
  return open
}

/** Idle connections are kept so long: closed at once, a request that is on its way would meet an error. */
const idleMs = 10_000
/** What was answered last is given so long to go out. */
const flushMs = 1_000

/**
 * Takes no new connections, answers what comes on those that are there, each time for the last time, and resolves when
 * none is left. `hurry`: idle ones are closed at once.
 */
export async function leaveClients(
  server: Server,
  inHand: RequestsInHand,
  open: ReadonlySet<ServerResponse>,
  { leaveMs, hurry }: { leaveMs: number; hurry: boolean },
): Promise<void> {
  const last = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', last)
  server.prependListener('checkContinue', last)
  for (const response of open) response.shouldKeepAlive = false
  const closed = Promise.withResolvers<void>()
  // That of HTTP would close idle connections, too.
  NetServer.prototype.close.call(server, () => closed.resolve())
  const began = performance.now()
  let limit: NodeJS.Timeout | undefined
  const sweep = setInterval(() => {
    const afterMs = performance.now() - began
    if (hurry || afterMs > Math.min(idleMs, leaveMs)) server.closeIdleConnections()
    if (afterMs <= leaveMs || limit) return
    inHand.abandon(stoppingProblem())
    limit = setTimeout(() => server.closeAllConnections(), flushMs)
  }, 10)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
