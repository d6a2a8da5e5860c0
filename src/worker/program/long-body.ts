/**
 * The body of a long answer on its way from a program's connection to a front's. It is neither parsed nor copied: a buffer is used
 * again when the front's connection has taken it.
 */
import type { Writable } from 'node:stream'
import { ReadBuffers } from '../../lib/read-buffers.ts'
import type { ByteReader } from './reading-agent.ts'

/** Chunks that the front's connection may have to take before the program waits. */
const mostInFlight = 1

const buffers = new ReadBuffers()
/** Bytes that nobody wants are read to it. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

export interface LongBodyParts {
  bytes: number
  /** Reads on. */
  resume(): void
  /** All bytes have been read. */
  complete(): void
}

export class LongBody implements ByteReader {
  readonly #parts: LongBodyParts
  readonly #sent = Promise.withResolvers<void>()
  /** Arrived before the front's connection. */
  #early: Buffer[] = []
  #left: number
  /** The next bytes are read into it. */
  #buffer: Buffer | undefined
  #inFlight = 0
  #out: Writable | undefined
  #isClosed = false

  constructor(parts: LongBodyParts) {
    this.#parts = parts
    this.#left = parts.bytes
  }

  /** Resolves when all bytes have been written to the front's connection, or it has closed. */
  get sent(): Promise<void> {
    return this.#sent.promise
  }

  get place(): Buffer {
    if (this.#isClosed || this.#left === 0) return scratch
    this.#buffer ??= buffers.take()
    return this.#buffer
  }

  /** `data` was read to `place`, or belongs to nobody else. More bytes than announced are dropped. */
  read(data: Buffer): boolean {
    const chunk = data.subarray(0, this.#left)
    this.#left -= chunk.length
    const isLast = this.#left === 0
    if (chunk.length > 0) this.#pass(chunk)
    if (isLast && chunk.length > 0) this.#parts.complete()
    if (isLast) this.#end()
    return !this.#waits
  }

  /** Writes the body to the front's connection. */
  pour(out: Writable): void {
    if (this.#isClosed) return void out.destroy()
    this.#out = out
    // The front does not want the rest. The program's job ends as if it did.
    out.on('error', () => {}).on('close', () => this.close())
    for (const chunk of this.#early.splice(0)) this.#write(out, chunk, undefined)
    if (this.#left === 0) this.#end()
    else if (!this.#waits) this.#parts.resume()
  }

  /** Drops what still arrives. If the body is incomplete, the front's connection breaks off. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#early = []
    if (this.#buffer) buffers.give(this.#buffer)
    this.#buffer = undefined
    this.#sent.resolve()
    if (this.#left > 0) this.#parts.resume()
    this.#out?.destroy()
  }

  get #waits(): boolean {
    return !this.#isClosed && (!this.#out || this.#inFlight > mostInFlight)
  }

  #pass(chunk: Buffer): void {
    const buffer = chunk.buffer === this.#buffer?.buffer ? this.#buffer : undefined
    if (this.#isClosed) return
    if (buffer) this.#buffer = undefined
    if (this.#out) this.#write(this.#out, chunk, buffer)
    else this.#early.push(chunk)
  }

  #write(out: Writable, chunk: Buffer, buffer: Buffer | undefined): void {
    this.#inFlight++
    out.write(chunk, () => {
      if (buffer) buffers.give(buffer)
      const waited = this.#waits
      this.#inFlight--
      if (this.#isClosed) return
      if (this.#left === 0) this.#end()
      else if (waited && !this.#waits) this.#parts.resume()
    })
  }

  /** Ends the front's connection when it has taken everything. */
  #end(): void {
    if (!this.#out || this.#inFlight > 0 || this.#isClosed) return
    if (this.#buffer) buffers.give(this.#buffer)
    this.#buffer = undefined
    this.#isClosed = true
    this.#sent.resolve()
    this.#out.end()
  }
}
