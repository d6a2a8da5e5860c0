/** The cluster's port in a front that the cluster started: a queue of its own, or its predecessor's. */

import type { Server } from 'node:http'
import { ConfigError } from '../../lib/errors.ts'

/** Messages between such a front and the process that started it. */
export type ToChild =
  /** Listen there, or on the handle that comes with the message. */
  | { type: 'port'; port: number; host: string }
  /** Hand over your queue to your successor. */
  | { type: 'give-port' }
export type FromChild =
  | { type: 'wants-port' }
  | { type: 'listening' }
  /** With a handle. */
  | { type: 'port' }

/** Resolves when the server accepts connections. It shares its queue on request, and keeps accepting from it. */
export async function listenShared(server: Server): Promise<void> {
  if (!process.send) throw new ConfigError('--shared: only for fronts that a cluster starts')
  const listening = Promise.withResolvers<void>()
  process.on('message', (message: ToChild, handle: unknown) => {
    if (message.type === 'give-port')
      process.send!({ type: 'port' } satisfies FromChild, server, undefined, () => {})
    else if (handle) server.listen(handle, listening.resolve)
    else server.listen({ port: message.port, host: message.host, reusePort: true }, listening.resolve)
  })
  server.on('error', listening.reject)
  process.send({ type: 'wants-port' } satisfies FromChild)
  await listening.promise
  process.send({ type: 'listening' } satisfies FromChild)
}

/** Such a front ends with the cluster. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit(1))
}
