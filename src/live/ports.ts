/** Opens the ports of a live cluster. */

import type { Server } from 'node:http'
import { listenReused } from './fronts/reused-port.ts'
import { listen } from './listen.ts'
import type { ClusterPlan } from './plan.ts'
import { closeFront, type Stopping } from './stopping.ts'

/** The address of the admin port: operators and workers reach it on this machine only. */
export const adminHost = '127.0.0.1'

/** The ports are closed by `opening`. */
export async function openPorts(
  { options: { port, host, adminPort, fronts } }: ClusterPlan,
  { admin, front }: { admin: Server; front: Server },
  stopping: Stopping,
  opening: AsyncDisposableStack,
): Promise<void> {
  await listen(admin, adminPort, adminHost, '--admin-port')
  opening.defer(() => {
    admin.close()
    admin.closeAllConnections()
  })
  if (fronts) opening.adopt(await listenReused(front, port, host, '--port'), (lock) => lock.release())
  else await listen(front, port, host, '--port')
  opening.defer(() => closeFront(front, stopping.flushMs()))
}
