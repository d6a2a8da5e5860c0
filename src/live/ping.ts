/** Asks a worker for a sign of life, over a connection of its own: one that was open before would prove less. */

import { get } from 'node:http'
import { connect } from 'node:net'
import type { Address } from '../wire/front-messages.ts'
import { healthPath } from '../wire/messages.ts'
import { secureSocket } from '../wire/secure.ts'

/** Calls `answered` if the worker answers within the time. The token authorizes fronts at workers. */
export function ping(
  { host, port, tls }: Address,
  { token, limitMs, answered }: { token: string; limitMs: number; answered(): void },
): void {
  const secret = { identity: 'front', token }
  const request = get({
    ...{ host, port, path: healthPath, headers: { connection: 'close' } },
    createConnection: () => (tls ? secureSocket({ host, port }, secret) : connect({ host, port })),
    signal: AbortSignal.timeout(limitMs),
  })
  // No answer says all there is to say.
  request.on('error', () => {})
  request.on('response', (response) => {
    response.on('error', () => {}).resume()
    if (response.statusCode === 200) answered()
  })
}
