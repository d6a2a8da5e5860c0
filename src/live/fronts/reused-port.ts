/**
 * A port on which the fronts of one cluster listen, each with a queue of its own; the kernel spreads connections over
 * them. The kernel would also let any other process of the same user share the port; a lock keeps clusters apart.
 */

import { createServer, type Server } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'
import { listen, portProblem } from '../listen.ts'

export interface PortLock {
  /** Idempotent. */
  release(): void
}

const noLock: PortLock = { release() {} }

/** Rejects with a `ConfigError` if any other process listens there, even one that would share the port. */
export async function listenReused(
  server: Server,
  port: number,
  host: string,
  option: string,
): Promise<PortLock> {
  if (process.platform !== 'linux') {
    throw new ConfigError('--fronts: several fronts can share a port on Linux only; use plimsoll front')
  }
  // The kernel picks a port that nobody uses.
  if (port === 0) {
    await listen(server, port, host, option, true)
    return noLock
  }
  const lock = await take(port, host, option)
  try {
    // Exclusive listening fails if anybody listens there, sharing or not.
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

/** An abstract socket name: one process can hold it, and the kernel releases it when the process ends. */
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
