/** The door in the brain's process: a front in this process, and further ones beside it. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen, urlOf } from '../listen.ts'
import { closeFront } from '../stopping.ts'
import { type BoundSocket, bindSocket } from './bound-socket.ts'
import type { Door } from './door.ts'
import type { FrontSettings } from './front-channel.ts'
import { FrontProcesses } from './front-processes.ts'
import { listenReused } from './reused-port.ts'

export interface InsideDoorParts {
  /** The front of this process. */
  server: Server
  host: string
  port: number
  protocol: 'http' | 'https'
  /** Further fronts, and the command that starts one. */
  fronts: { count: number; command: readonly string[] } | undefined
  drainMs: number
  settings(): FrontSettings
  /** A front's process has ended. */
  gone(id: string): void
  /** Time left for sending answers, when the cluster stops. */
  flushMs(): number
  log(line: string): void
}

export function insideDoor(parts: InsideDoorParts): Door {
  const { server, host, port, fronts, drainMs, settings, gone, log } = parts
  const processes = new FrontProcesses({ command: fronts?.command ?? [], gone, log })
  const sockets: BoundSocket[] = []
  return {
    async open(opening) {
      if (fronts) opening.adopt(await listenReused(server, port, host, '--port'), (lock) => lock.release())
      else await listen(server, port, host, '--port')
      opening.defer(() => closeFront(server, parts.flushMs()))
      opening.defer(() => {
        for (const socket of sockets) socket.close()
      })
      const { port: shared } = server.address() as AddressInfo
      for (let i = 0; i < (fronts?.count ?? 0); i++)
        sockets.push(await bindSocket(shared, host, '--port', true))
    },
    url: () => urlOf(server, host, parts.protocol),
    queue: () => server,
    // This process accepts requests, so fronts that do not start can be waited for.
    start: () => processes.open({ sockets, settings, drainMs }).catch(() => {}),
    has: (front) => processes.has(front),
    renew() {},
    roll: () => processes.roll(),
    close: (graceMs) => processes.close(graceMs),
  }
}
