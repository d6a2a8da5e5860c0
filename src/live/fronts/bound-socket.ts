/**
 * Sockets that are bound in this process, and on which others listen. As long as this process keeps one, connections to
 * it are queued, even while no process accepts them.
 */

import type { SendHandle } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import * as net from 'node:net'
import { getSystemErrorName } from 'node:util'
import { portProblem } from '../listen.ts'

export interface BoundSocket {
  readonly port: number
  /** To be sent to another process, whose server can listen on it. */
  readonly handle: SendHandle
  close(): void
}

interface RawHandle {
  getsockname(out: { port?: number }): number
  close(): void
}

/**
 * `node:cluster` makes the sockets that its workers share with this function. The public interfaces would also accept
 * connections in this process.
 */
const { _createServerHandle: createHandle } = net as unknown as {
  _createServerHandle(
    address: string,
    port: number,
    family: number,
    fd: undefined,
    flags: number,
  ): RawHandle | number
}

/** `UV_TCP_REUSEPORT` of libuv. */
const reuseFlag = 2

/** Port 0: any free port. `reusePort`: other sockets with this flag may share it. Rejects with a `ConfigError`. */
export async function bindSocket(
  port: number,
  host: string,
  option: string,
  reusePort: boolean,
): Promise<BoundSocket> {
  const { address, family } = await lookup(host).catch((error: NodeJS.ErrnoException) => {
    throw portProblem(error, port, option)
  })
  const made = createHandle(address, port, family, undefined, reusePort ? reuseFlag : 0)
  if (typeof made === 'number') throw portProblem({ code: getSystemErrorName(made) }, port, option)
  const name: { port?: number } = {}
  const error = made.getsockname(name)
  // A taken port is reported when a process listens, on a socket that has another port or none.
  const isBound = error === 0 && name.port !== undefined && (port === 0 || name.port === port)
  if (!isBound) {
    made.close()
    throw portProblem({ code: 'EADDRINUSE' }, port, option)
  }
  return { port: name.port!, handle: made as unknown as net.Server, close: () => made.close() }
}
