/** Bare connections, for clients that break the rules of HTTP or their own word. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Up } from './up.ts'

export async function dial(
  port: number,
  options: { allowHalfOpen?: boolean; localAddress?: string } = {},
): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Everything that comes back until the connection is closed, or the time is over. */
export async function talk(port: number, bytes: string | Buffer, ms = 5_000): Promise<string> {
  const socket = await dial(port)
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  socket.write(bytes)
  await Promise.race([once(socket, 'close'), delay(ms, undefined, { ref: false })])
  socket.destroy()
  return text
}

/** Opens many connections; all are closed by the returned function. */
export async function manyConnections(up: Up, count: number): Promise<{ sockets: Socket[]; close(): void }> {
  const sockets: Socket[] = []
  for (let left = count; left > 0; left -= 100)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(100, left) }, () => dial(up.port)))))
  return {
    sockets,
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** Rejects if the promise is not settled in time. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new Error(`${what}: not within ${ms} ms`)
  })
  return Promise.race([promise, late])
}

export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  ms = 20_000,
): Promise<void> {
  const ends = performance.now() + ms
  while (!(await isSo())) {
    if (performance.now() > ends) throw new Error(`timed out waiting until ${what}`)
    await delay(50)
  }
}
