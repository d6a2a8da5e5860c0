/** Messages as lines of JSON over a socket. */

import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A longer line ends the connection. */
const longestLine = 4 * 1024 * 1024

export interface Line<Out> {
  send(message: Out): void
  /** Closes the connection after all messages are sent. */
  close(): void
  /** Closes it at once: the other side may be unreachable. */
  cut(): void
}

/** Reads and writes messages until the socket closes. A message that is not JSON ends the connection. */
export function lines<In, Out>(
  socket: Duplex,
  onMessage: (message: In) => void,
  onClose: (error: Error | undefined) => void,
): Line<Out> {
  let pending = ''
  let failure: Error | undefined
  let closed = false
  const decoder = new StringDecoder('utf8')
  socket.on('data', (bytes: Buffer) => {
    // What had been received before the connection was destroyed may still arrive.
    if (failure) return
    pending += decoder.write(bytes)
    let start = 0
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n', start)) {
      const line = pending.slice(start, end)
      start = end + 1
      try {
        onMessage(JSON.parse(line) as In)
      } catch (error) {
        failure = error as Error
        socket.destroy()
        return
      }
    }
    pending = pending.slice(start)
    if (pending.length > longestLine) {
      failure = new Error(`a message of more than ${longestLine} characters`)
      socket.destroy()
    }
  })
  socket.on('error', (error) => {
    failure ??= error
  })
  socket.on('close', () => {
    if (closed) return
    closed = true
    onClose(failure)
  })
  socket.on('end', () => socket.end())
  return {
    send(message) {
      if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(message)}\n`)
    },
    close() {
      socket.end()
    },
    cut() {
      socket.destroy()
    },
  }
}
