/** Time limits for connections. */

import type { ClientRequest } from 'node:http'

/** Fails the request with ETIMEDOUT if its connection is not established in time: the system would try for two minutes. */
export function limitConnecting(request: ClientRequest, ms: number): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => {
      request.destroy(Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' }))
    }, ms)
    const stop = () => clearTimeout(timer)
    socket.once('connect', stop).once('close', stop)
  })
}
