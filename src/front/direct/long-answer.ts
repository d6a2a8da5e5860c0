/**
 * The body of a long answer on its way from a program to its client. Each buffer is used again when the client's connection
 * has taken it. A program waits for its client, but not for long: then the answer is kept for the client, and the
 * program is free as soon as it has answered.
 */

import type { ReadBuffers } from '../../lib/read-buffers.ts'
import type { LongSink } from '../receiver.ts'

/** How long a program waits for its client in all. */
const patienceMs = 500
/** Chunks that the client's connection may have to take before the program waits. */
const mostInFlight = 1
/** A program that sends nothing for this time has stopped. */
const silentMs = 600_000

export class LongAnswer {
  readonly #sink: LongSink
  readonly #buffers: ReadBuffers
  readonly #now: () => number
  readonly #resume: () => void
  #left: number
  /** The next bytes are read into it. */
  #buffer: Buffer | undefined
  #inFlight = 0
  /** Since when the program waits. */
  #waitsSince: number | undefined
  #waitedMs = 0
  #isKept = false
  /** When the last bytes arrived, as far as checks have seen. */
  #seen: { left: number; at: number }

  /** `left`: bytes to come. `resume`: reads on. */
  constructor(sink: LongSink, left: number, parts: { buffers: ReadBuffers; now(): number; resume(): void }) {
    this.#sink = sink
    this.#left = left
    this.#buffers = parts.buffers
    this.#now = parts.now
    this.#resume = parts.resume
    this.#seen = { left, at: parts.now() }
  }

  get isComplete(): boolean {
    return this.#left === 0
  }

  /** Where to read the next bytes to. */
  get place(): Buffer {
    this.#buffer ??= this.#buffers.take()
    return this.#buffer
  }

  /** `data` was read to `place`, unless it is the first. Returns how many bytes are too many. */
  read(data: Buffer): number {
    const buffer = this.#buffer
    const piece = data.subarray(0, this.#left)
    const chunk = buffer ? piece : Buffer.from(piece)
    this.#buffer = undefined
    this.#left -= chunk.length
    this.#inFlight++
    const wasKept = this.#isKept
    this.#sink.pass(chunk, () => {
      if (buffer) this.#buffers.give(buffer)
      if (wasKept !== this.#isKept) return
      this.#inFlight--
      if (!this.#hasTooMany) this.#goOn()
    })
    if (this.isComplete) this.#sink.end()
    else if (this.#hasTooMany) this.#waitsSince ??= this.#now()
    return data.length - chunk.length
  }

  /** The program has to wait. */
  get waits(): boolean {
    return this.#waitsSince !== undefined
  }

  /** Checks how long its parties have waited for each other. False: the program has stopped. */
  check(now: number): boolean {
    if (this.#waitsSince !== undefined) {
      this.#seen.at = now
      if (!this.#isKept && this.#waitedMs + now - this.#waitsSince >= patienceMs) this.#keep()
    } else if (this.#left !== this.#seen.left) this.#seen = { left: this.#left, at: now }
    return now - this.#seen.at < silentMs
  }

  /** The rest will not arrive. */
  breakOff(): void {
    this.#sink.breakOff()
  }

  /** Its buffer is not used any more. */
  close(): void {
    if (this.#buffer) this.#buffers.give(this.#buffer)
    this.#buffer = undefined
    this.#waitsSince = undefined
  }

  get #hasTooMany(): boolean {
    return this.#inFlight > (this.#isKept ? 0 : mostInFlight)
  }

  /** From now on the program waits only if there is no room to keep more. What is in flight does not count. */
  #keep(): void {
    this.#isKept = true
    this.#inFlight = 0
    this.#sink.keep()
    this.#goOn()
  }

  #goOn(): void {
    if (this.#waitsSince === undefined) return
    this.#waitedMs += this.#now() - this.#waitsSince
    this.#waitsSince = undefined
    this.#resume()
  }
}
