/** Opens a worker's port: plain on this machine, over TLS for fronts of others. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../../lib/loopback.ts'
import type { Address } from '../../wire/front-messages.ts'
import { secureListener } from '../../wire/secure.ts'

export interface AttemptPort {
  /** Rejects if the address cannot be used. */
  open(): Promise<void>
  /** As fronts must know it; only after `open`. */
  address(): Address
  /** Closes all connections too. */
  close(): void
}

/** `isRemote`: the cluster is on another machine, whatever the address. */
export function attemptPort(server: Server, host: string, token: string, isRemote: boolean): AttemptPort {
  const tls = isRemote || !isLoopback(host)
  const tokenOf = (identity: string) => (identity === 'front' ? token : undefined)
  const secure = tls ? secureListener(server, { tokenOf, refused() {} }) : undefined
  const listener = secure?.listener ?? server
  return {
    open: () =>
      new Promise((resolve, reject) => {
        listener.once('error', reject)
        listener.listen(0, host, resolve)
      }),
    address: () => ({ host, port: (listener.address() as AddressInfo).port, ...(tls && { tls }) }),
    close() {
      if (secure) return secure.close()
      server.close()
      server.closeAllConnections()
    },
  }
}
