/** Minimum rates at which clients must read their answers and send their requests, averaged over a window. */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientResponse } from './response.ts'

export interface MinimumRate {
  windowMs: number
  /** 0: a client only has to read or send something in each window. */
  bytesPerSecond: number
}

/** An answer, or a connection that carries no other. */
export type Readable = Pick<ClientResponse, 'destroyed' | 'writableLength' | 'socket' | 'streamedBytes'> & {
  once(event: 'close', listener: () => void): unknown
}

/** Watches how fast the client reads an answer, while bytes of it wait. */
export class ReadingWatch {
  readonly #response: Readable
  readonly #rate: MinimumRate
  readonly #tooSlow: () => void
  #timer: NodeJS.Timeout | undefined
  #before = { taken: 0, queued: 0 }
  #started = false

  constructor(response: Readable, rate: MinimumRate, tooSlow: () => void) {
    this.#response = response
    this.#rate = rate
    this.#tooSlow = tooSlow
  }

  /** Bytes wait for the client from now on. Idempotent. */
  start(): void {
    if (this.#timer || this.#response.destroyed) return
    this.#before = this.#state()
    this.#timer = setInterval(() => this.#check(), this.#rate.windowMs).unref()
    if (!this.#started) this.#response.once('close', () => this.stop())
    this.#started = true
  }

  /** The client has read everything so far. Idempotent. */
  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    if (this.#response.writableLength === 0) return this.stop()
    const before = this.#before
    const now = this.#state()
    this.#before = now
    // A pipelined answer waits for those before it, not for the client.
    if (!this.#response.socket && this.#response.streamedBytes === undefined) return
    const taken = now.taken - before.taken
    // While a single write is in progress, only the queue of the system shows how much of it was taken.
    const read = taken === 0 ? before.queued - now.queued : taken
    if (read >= least(this.#rate)) return
    this.stop()
    this.#tooSlow()
  }

  #state(): { taken: number; queued: number } {
    const { socket, streamedBytes } = this.#response
    if (streamedBytes !== undefined) return { taken: streamedBytes, queued: 0 }
    const taken = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0)
    return { taken, queued: queueOf(socket) }
  }
}

/** Watches how fast the client sends its request. Ends when all of it has arrived. */
export function watchSending(request: IncomingMessage, rate: MinimumRate, tooSlow: () => void): void {
  let before = receivedOf(request)
  const stop = () => clearInterval(timer)
  const timer = setInterval(() => {
    if (request.complete || request.destroyed) return stop()
    const received = receivedOf(request)
    const sent = received - before
    before = received
    // What has arrived and was not read yet is not the client's delay.
    if (request.readableLength > 0 || sent >= least(rate)) return
    stop()
    tooSlow()
  }, rate.windowMs).unref()
  request.once('end', stop).once('close', stop)
}

/** Other requests of an HTTP/2 connection do not count. */
function receivedOf(request: IncomingMessage & { streamedBytes?: number }): number {
  return request.streamedBytes ?? request.socket.bytesRead
}

function least({ windowMs, bytesPerSecond }: MinimumRate): number {
  return Math.max(1, (bytesPerSecond * windowMs) / 1000)
}

/** Bytes of the write in progress that the system has not taken. Node does not document it, but uses it for its own timeouts. */
function queueOf(socket: Socket | null): number {
  const { _handle: handle } = (socket ?? {}) as { _handle?: { writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
}
