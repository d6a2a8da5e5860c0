/** Requests whose bodies wait, unread, until the overload ends. The clients' data stays in their sockets. */

import type { IncomingMessage } from 'node:http'

/** Bodies up to this length are read all the same: most have arrived with the head of their request. */
const smallBytes = 16 * 1024
/** Bodies that may be read after each look at an overload that has ended. */
const atOnce = 16

interface Held {
  end(isAdmitted: boolean): void
}

export class HeldBodies {
  readonly #holdMs: number
  readonly #held: Held[] = []

  constructor(holdMs: number) {
    this.#holdMs = holdMs
  }

  /** True: this body is to wait for its turn. */
  mustWait(request: IncomingMessage, isOverloaded: boolean): boolean {
    return (isOverloaded || this.#held.length > 0) && !isSmall(request)
  }

  /** Resolves to true when the body may be read, to false after the time limit or when the client has left. */
  async wait(request: IncomingMessage): Promise<boolean> {
    // A stream of HTTP/2 that is not read stops by itself, and others on its connection must go on.
    const socket = request.httpVersion === '2.0' ? undefined : request.socket
    const ended = Promise.withResolvers<boolean>()
    const held: Held = { end: ended.resolve }
    this.#held.push(held)
    const timer = setTimeout(() => held.end(false), this.#holdMs)
    const leave = () => held.end(false)
    request.once('close', leave)
    socket?.pause()
    const isAdmitted = await ended.promise
    clearTimeout(timer)
    request.off('close', leave)
    const at = this.#held.indexOf(held)
    if (at >= 0) this.#held.splice(at, 1)
    socket?.resume()
    return isAdmitted
  }

  /** The overload has ended: the bodies that wait longest are read. */
  admitSome(): void {
    for (const held of this.#held.splice(0, atOnce)) held.end(true)
  }
}

function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= smallBytes
}
