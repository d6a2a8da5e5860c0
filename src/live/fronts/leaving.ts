/** Drains a front so that none of its clients sees an error. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { RequestProblem } from '../../front/problem.ts'
import type { PendingRequests } from './pending-requests.ts'

/** Time allowed for the last answers to be sent. */
const flushMs = 1_000
/** How often connections are checked, in a hurry and otherwise. */
const [soonMs, laterMs] = [10, 100]

/** Read again and again: a stop of the cluster shortens what a replacement allows. */
export interface Leave {
  /** When pending requests are abandoned, by `performance.now()`. */
  until(): number
  /** True: closes idle connections at once. */
  hurry(): boolean
  /** The limit is over; called before pending requests are abandoned. */
  late?(): void
  /** Answer to requests that exceed the limit. */
  problem: RequestProblem
}

/** Counts requests in progress, and connections that were upgraded. */
export function requestCounter(server: Server): () => number {
  let count = 0
  const add = (end: ServerResponse | Socket) => {
    count++
    end.once('close', () => count--)
  }
  server.on('request', (_, response) => add(response))
  server.on('checkContinue', (_, response) => add(response))
  server.on('upgrade', (_, socket: Socket) => add(socket))
  return () => count
}

/**
 * Accepts no new connections and closes each existing one after its next answer. Idle ones stay open as long as their
 * clients were told (`keepAliveTimeout`): a request on its way must not meet a closed one. Resolves when none is left.
 */
export async function leaveClients(
  all: readonly (Server | undefined)[],
  pending: PendingRequests,
  leave: Leave,
): Promise<void> {
  const servers = all.filter((server) => server !== undefined)
  const last = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  for (const server of servers) {
    server.prependListener('request', last)
    server.prependListener('checkContinue', last)
  }
  pending.closeAfterwards()
  // The HTTP server's own `close` would also close idle connections.
  const closed = servers.map(
    (server) => new Promise<unknown>((resolve) => NetServer.prototype.close.call(server, resolve)),
  )
  let limit: NodeJS.Timeout | undefined
  let timer: NodeJS.Timeout | undefined
  let left = false
  // Runs after sockets were read: timers fire before, when requests may wait in sockets that seem idle.
  const sweep = () => {
    // The last connection may have closed between the timer and this call.
    if (left) return
    const isLate = performance.now() > leave.until()
    if (isLate || leave.hurry()) for (const server of servers) server.closeIdleConnections()
    if (isLate && !limit) {
      leave.late?.()
      pending.abandon(leave.problem)
      limit = setTimeout(() => {
        for (const server of servers) server.closeAllConnections()
      }, flushMs)
    }
    timer = setTimeout(() => setImmediate(sweep), leave.hurry() ? soonMs : laterMs)
  }
  sweep()
  await Promise.all(closed)
  left = true
  clearTimeout(timer)
  clearTimeout(limit)
}
