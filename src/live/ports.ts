/** Opens the ports of a live cluster. */

import type { AdminListener } from '../admin/listener.ts'
import type { SecureListener } from '../wire/secure.ts'
import type { Door } from './fronts/door.ts'
import { listen } from './listen.ts'
import type { ClusterPlan } from './plan.ts'

/** Default address of the admin port: operators, workers and fronts reach it on this machine only. */
export const usualAdminHost = '127.0.0.1'

/** The address at which processes of this machine reach a port that listens there. */
export function nearHost(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}

export interface PortsParts {
  admin: AdminListener
  join: SecureListener | undefined
  door: Door
  /** Called when workers can join, before the first one does. */
  adopt(): void
}

/** The ports are closed by `opening`. */
export async function openPorts(
  { options: { adminPort, adminHost = usualAdminHost, joinAddress } }: ClusterPlan,
  { admin, join, door, adopt }: PortsParts,
  opening: AsyncDisposableStack,
): Promise<void> {
  await listen(admin.listener, adminPort, adminHost, '--admin-port')
  adopt()
  opening.defer(() => admin.close())
  if (join && joinAddress) {
    await listen(join.listener, joinAddress.port, joinAddress.host, '--join-address')
    opening.defer(() => join.close())
  }
  await door.open(opening)
}
