/** Opens the ports of a live cluster. */

import type { Server } from 'node:http'
import type { Door } from './fronts/door.ts'
import { listen } from './listen.ts'
import type { ClusterPlan } from './plan.ts'

/** The address of the admin port: operators and workers reach it on this machine only. */
export const adminHost = '127.0.0.1'

/** The ports are closed by `opening`. */
export async function openPorts(
  { options: { adminPort } }: ClusterPlan,
  { admin, door }: { admin: Server; door: Door },
  opening: AsyncDisposableStack,
): Promise<void> {
  await listen(admin, adminPort, adminHost, '--admin-port')
  opening.defer(() => {
    admin.close()
    admin.closeAllConnections()
  })
  await door.open(opening)
}
