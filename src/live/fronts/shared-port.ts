/** The port of the cluster, as a front has it that the cluster started: its own queue there, or that of the one before it. */

import type { Server } from 'node:http'
import { ConfigError } from '../../lib/errors.ts'

/** What such a front and the process that started it say to each other besides. */
export type ToChild =
  /** Listen there; or, with a handle, at what that is. */
  | { type: 'port'; port: number; host: string }
  /** Another goes on with your queue: hand it over. */
  | { type: 'give-port' }
export type FromChild =
  | { type: 'wants-port' }
  | { type: 'listening' }
  /** With a handle. */
  | { type: 'port' }

/** Resolves when the server takes connections. Asked for it, it gives its queue away, and goes on to take from it. */
export async function listenShared(server: Server): Promise<void> {
  if (!process.send) throw new ConfigError('--shared: is only for fronts that a cluster starts')
  const said = Promise.withResolvers<void>()
  process.on('message', (message: ToChild, handle: unknown) => {
    if (message.type === 'give-port') process.send!({ type: 'port' } satisfies FromChild, server)
    else if (handle) server.listen(handle, said.resolve)
    else server.listen({ port: message.port, host: message.host, reusePort: true }, said.resolve)
  })
  server.once('error', said.reject)
  process.send({ type: 'wants-port' } satisfies FromChild)
  await said.promise
  process.send({ type: 'listening' } satisfies FromChild)
}

/** Without whoever started it, such a front is of no use. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit(1))
}
