/** Connections that trusted proxies pass on with the PROXY protocol: the address of the client replaces the proxy's. */

import type { ConnectionStep, FrontServer } from '../connection-steps.ts'
import { readFirstBytes } from '../first-bytes.ts'
import type { IsTrusted } from '../request/trusted-proxies.ts'
import { setPeer } from '../tls/below.ts'
import { readProxyHeader } from './proxy-header.ts'

/** Time allowed for the header. */
const headerMs = 10_000

export interface ProxyParts {
  /** Every connection from these addresses must begin with a header; no other may. */
  isTrusted: IsTrusted
  /** A connection was refused. */
  refused(address: string, why: string): void
}

export function proxyStep(server: FrontServer, { isTrusted, refused }: ProxyParts): ConnectionStep {
  return (socket, next) => {
    const { remoteAddress = '' } = socket
    if (!isTrusted(remoteAddress)) return next(socket)
    const passed = server.start(socket)
    readFirstBytes(socket, {
      limitMs: headerMs,
      look: readProxyHeader,
      late: () => refused(remoteAddress, `it sent no PROXY header within ${headerMs / 1000} s`),
      found(header) {
        passed()
        if ('malformed' in header) {
          refused(remoteAddress, header.malformed)
          return void socket.destroy()
        }
        if ('peer' in header) setPeer(socket, header.peer)
        next(socket)
      },
    })
  }
}
