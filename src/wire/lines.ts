/** Messages as lines of JSON over a socket. */

import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A longer line ends the connection. */
const longestLine = 4 * 1024 * 1024
/** Text beyond this is written at once. */
const longestBatch = 64 * 1024

export interface Line<Out> {
  /** Written together with all other messages of this turn of the event loop. */
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
  const batch = new Batch(socket)
  socket.on('end', () => {
    batch.flush()
    socket.end()
  })
  return {
    send(message) {
      if (!socket.destroyed && socket.writable) batch.add(`${JSON.stringify(message)}\n`)
    },
    close() {
      batch.flush()
      socket.end()
    },
    cut() {
      socket.destroy()
    },
  }
}

/** Text that is written when all sockets have been read: a write takes far longer than a message. */
class Batch {
  readonly #socket: Duplex
  #text = ''
  #scheduled = false

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length > longestBatch) return this.flush()
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.flush()
    })
  }

  flush(): void {
    const text = this.#text
    this.#text = ''
    if (text !== '' && !this.#socket.destroyed && this.#socket.writable) this.#socket.write(text)
  }
}
