/** The port of the cluster, handed over to a front by the process that started it. */

import { once } from 'node:events'
import type { Server } from 'node:http'
import { ConfigError } from '../errors.ts'

/** Resolves when the server takes connections from the same queue as all others that have the port. */
export async function listenShared(server: Server): Promise<void> {
  if (!process.send) throw new ConfigError('--shared: is only for fronts that a cluster starts')
  const port = new Promise<unknown>((resolve) => {
    const take = (said: unknown, handle: unknown) => {
      if (said !== 'port') return
      process.off('message', take)
      resolve(handle)
    }
    process.on('message', take)
  })
  process.send('wants-port')
  server.listen(await port)
  await once(server, 'listening')
  process.send('listening')
}

/** Without whoever started it, such a front is of no use. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit(1))
}
