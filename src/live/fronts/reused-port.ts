/**
 * The public port of a cluster. Its fronts have a queue of connections each, over which the kernel spreads them. The
 * kernel would also let any other process of the same user share the port; a lock keeps clusters apart.
 */

import { createServer, type Server } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'
import { listen, portProblem } from '../listen.ts'
import { type BoundSocket, bindSocket } from './bound-socket.ts'

export interface PortLock {
  /** Idempotent. */
  release(): void
}

const noLock: PortLock = { release() {} }

/** Listens on a port that fronts share. Rejects with a `ConfigError` if any other process listens there. */
export async function listenReused(
  server: Server,
  port: number,
  host: string,
  option: string,
): Promise<PortLock> {
  checkSharing()
  const lock = await reservePort(port, host, option)
  try {
    await listen(server, port, host, option, true)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

/** The public port, bound once for each front. */
export interface Queues {
  port: number
  /** At least one. */
  sockets: readonly BoundSocket[]
  /** Idempotent. */
  close(): void
}

/** Rejects with a `ConfigError` if any other process listens there, even one that would share the port. */
export async function bindQueues(
  { port, host, count }: { port: number; host: string; count: number },
  option: string,
): Promise<Queues> {
  if (count > 1) checkSharing()
  const lock = await reservePort(port, host, option)
  const sockets: BoundSocket[] = []
  const close = () => {
    for (const socket of sockets.splice(0)) socket.close()
    lock.release()
  }
  try {
    const first = await bindSocket(port, host, option, count > 1)
    sockets.push(first)
    while (sockets.length < count) sockets.push(await bindSocket(first.port, host, option, true))
    return { port: first.port, sockets: [...sockets], close }
  } catch (error) {
    close()
    throw error
  }
}

function checkSharing(): void {
  if (process.platform === 'linux') return
  throw new ConfigError('--fronts: several fronts can share a port on Linux only; use plimsoll front')
}

/** Port 0 needs no lock: the kernel picks a port that nobody uses. */
async function reservePort(port: number, host: string, option: string): Promise<PortLock> {
  if (port === 0 || process.platform !== 'linux') return noLock
  const lock = await take(port, host, option)
  try {
    // Exclusive listening fails if anybody listens there, sharing or not.
    const probe = createServer()
    await listen(probe, port, host, option)
    await new Promise((resolve) => probe.close(resolve))
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
