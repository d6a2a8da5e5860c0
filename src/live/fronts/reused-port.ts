/**
 * A port that the fronts of one cluster listen at, each with a queue of its own, so that the kernel spreads connections
 * over them. The kernel would let any other process of the same user share it too, unseen; a lock keeps clusters apart.
 */

import { createServer, type Server } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'
import { listen, portProblem } from '../listen.ts'

export interface PortLock {
  /** Others may have the port. Idempotent. */
  release(): void
}

const noLock: PortLock = { release() {} }

/** Rejects with what to do if anybody else has the port: another cluster, a front that it left behind, any program. */
export async function listenReused(
  server: Server,
  port: number,
  host: string,
  option: string,
): Promise<PortLock> {
  if (process.platform !== 'linux') {
    throw new ConfigError('--fronts: several fronts can share a port on Linux only; use plimsoll front')
  }
  // A free port is nobody's.
  if (port === 0) {
    await listen(server, port, host, option, true)
    return noLock
  }
  const lock = await take(port, host, option)
  try {
    // Who asks for all of the port is refused if anybody listens there, whether or not they would share.
    const probe = createServer()
    await listen(probe, port, host, option)
    await new Promise((resolve) => probe.close(resolve))
    await listen(server, port, host, option, true)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

/** A name in the kernel that one process has, and that goes with it: no file is left behind. */
function take(port: number, host: string, option: string): Promise<PortLock> {
  return new Promise((resolve, reject) => {
    const holder = createServer()
    holder.once('error', (error) => reject(portProblem(error, port, option)))
    holder.listen({ path: `\0plimsoll-port-${host}-${port}` }, () => {
      holder.unref()
      resolve({ release: () => void holder.close() })
    })
  })
}
