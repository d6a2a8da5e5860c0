/** How a live cluster takes leave of its clients. */

import type { Server } from 'node:http'
import { RequestProblem } from '../front/problem.ts'

export function stoppingProblem(): RequestProblem {
  return new RequestProblem(503, 'stopping', 'The cluster is stopping.', {
    headers: { 'retry-after': '5', connection: 'close' },
  })
}

/** Resolves when the map is empty, or after the limit. */
export async function idle(map: ReadonlyMap<string, unknown>, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs
  while (map.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Closes connections as they fall idle, and after the limit whatever they do. */
export async function closeFront(front: Server, limitMs: number): Promise<void> {
  const closed = Promise.withResolvers<void>()
  front.close(() => closed.resolve())
  const sweep = setInterval(() => front.closeIdleConnections(), 10)
  const limit = setTimeout(() => front.closeAllConnections(), limitMs)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
