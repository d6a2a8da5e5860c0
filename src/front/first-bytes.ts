/** Looks at the first bytes of a connection before anything else reads it. */

import type { Socket } from 'node:net'

/** What the first bytes tell: more are needed, or the answer is known and this many bytes are not for the next reader. */
export type Look<T> = 'more' | { found: T; used: number }

export interface FirstBytesParts<T> {
  /** Time allowed for the first bytes. */
  limitMs: number
  look(bytes: Buffer): Look<T>
  found(what: T): void
  /** They did not arrive in time, or the client left. The connection is closed. */
  late?(): void
}

export function readFirstBytes<T>(socket: Socket, { limitMs, look, found, late }: FirstBytesParts<T>): void {
  let bytes: Buffer = Buffer.alloc(0)
  const fail = () => {
    socket.destroy()
  }
  const timer = setTimeout(() => {
    late?.()
    fail()
  }, limitMs)
  const stop = () => {
    clearTimeout(timer)
    socket.off('readable', read).off('end', fail).off('error', fail).off('close', stop)
  }
  const read = () => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read()) {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const seen = look(bytes)
      if (seen === 'more') continue
      stop()
      if (seen.used < bytes.length) socket.unshift(bytes.subarray(seen.used))
      return found(seen.found)
    }
  }
  socket.on('readable', read).on('end', fail).on('error', fail).on('close', stop)
}
