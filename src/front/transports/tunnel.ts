/** Connects two sockets that speak another protocol, such as WebSocket. */

import type { Duplex } from 'node:stream'

/** Resolves when both are closed. Each ends when the other ends, and is destroyed when the other breaks off. */
export async function tunnel(one: Duplex, other: Duplex, signal: AbortSignal): Promise<void> {
  const closed = [follow(one, other), follow(other, one)]
  const end = () => {
    one.destroy()
    other.destroy()
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  await Promise.all(closed)
  signal.removeEventListener('abort', end)
}

function follow(from: Duplex, to: Duplex): Promise<void> {
  return new Promise((resolve) => {
    from.on('error', () => from.destroy())
    from.once('close', () => {
      if (!from.readableEnded) to.destroy()
      resolve()
    })
    if (from.destroyed) to.destroy()
    if (from.closed) resolve()
    from.pipe(to)
  })
}
