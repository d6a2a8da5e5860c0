/** The TCP connections below TLS: only they can be reset. */

import type { Socket } from 'node:net'

const below = new WeakMap<Socket, Socket>()

/** `connection` carries the TLS of `socket`, which has the same peer: a proxy may have said which. */
export function setBelow(socket: Socket, connection: Socket): void {
  below.set(socket, connection)
  setPeer(socket, connection)
}

/** Replaces the address of the peer that the system reports. */
export function setPeer(
  socket: Socket,
  { remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>,
): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: remoteAddress },
    remotePort: { value: remotePort },
  })
}

export function resetConnection(socket: Socket): void {
  const connection = below.get(socket)
  if (!connection) return void socket.resetAndDestroy()
  connection.resetAndDestroy()
  // Otherwise it waits for a write that is in progress.
  socket.destroy()
}
