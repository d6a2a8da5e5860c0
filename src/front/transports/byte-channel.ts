/**
 * The body of a long answer of a program, which a worker sends on a connection of its own: the bytes need no parser, and are read into
 * buffers that are used again.
 */

import { connect, type Socket } from 'node:net'
import type { ReadBuffers } from '../../lib/read-buffers.ts'
import type { Address } from '../../wire/front-messages.ts'
import { attemptPath, channelProtocol, headers } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import { LongAnswer } from '../direct/long-answer.ts'
import type { LongSink } from '../receiver.ts'

/** The worker's response to the upgrade is shorter. */
const longestHead = 1024
const headEnd = '\r\n\r\n'
/** How often it is checked whether the program waits for its client. */
const checkMs = 100

/** Used by all channels: what is read into it is copied at once. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

export interface ByteChannelParts {
  address: Address
  /** The secret that authorizes fronts at workers. */
  token: string
  /** What the worker's response named. */
  ticket: string
  /** Length of the body. */
  bytes: number
  buffers: ReadBuffers
  signal: AbortSignal
  /** Bytes of the body that arrive before `begin`. */
  held(chunk: Buffer): void
}

export class ByteChannel {
  readonly #parts: ByteChannelParts
  readonly #socket: Socket
  readonly #ended = Promise.withResolvers<boolean>()
  readonly #refused = Promise.withResolvers<never>()
  /** What is read goes there. */
  #place: Buffer = shared
  /** The start of the worker's response; undefined: it has arrived. */
  #head: Buffer | undefined = Buffer.alloc(0)
  #left: number
  #long: LongAnswer | undefined
  #checks: NodeJS.Timeout | undefined

  constructor(parts: ByteChannelParts) {
    this.#parts = parts
    this.#left = parts.bytes
    const { address, token, ticket, signal } = parts
    this.#socket = connect({
      ...{ host: address.host, port: address.port, noDelay: true },
      onread: {
        // Called before the first read and after each one.
        buffer: () => {
          this.#place = this.#long && !this.#long.isComplete ? this.#long.place : shared
          return this.#place
        },
        callback: (bytes) => this.#read(this.#place.subarray(0, bytes)),
      },
    })
    this.#socket.on('error', () => {}).on('end', () => this.close())
    this.#socket.on('close', () => this.close())
    this.#socket.write(
      `GET ${attemptPath} HTTP/1.1\r\nhost: worker\r\nconnection: upgrade\r\nupgrade: ${channelProtocol}\r\n` +
        `authorization: ${bearer(token)}\r\n${headers.channel}: ${ticket}\r\n\r\n`,
    )
    // It may not be awaited.
    this.#refused.promise.catch(() => {})
    if (signal.aborted) this.close()
    else signal.addEventListener('abort', () => this.close(), { once: true })
  }

  /** Resolves when nothing more arrives: to true if the body is complete. */
  get ended(): Promise<boolean> {
    return this.#ended.promise
  }

  /** Rejects if the worker cannot be reached, or does not have the body. */
  get refused(): Promise<never> {
    return this.#refused.promise
  }

  /** What follows goes to the sink. The caller ends it. */
  begin(sink: LongSink): void {
    if (this.#left === 0) return
    const resume = () => void this.#socket.resume()
    const { buffers } = this.#parts
    const passing = { ...sink, end() {}, breakOff() {} }
    const long = new LongAnswer(passing, this.#left, { buffers, now: () => performance.now(), resume })
    this.#long = long
    this.#checks = setInterval(() => long.check(performance.now()), checkMs).unref()
  }

  /** Idempotent. */
  close(): void {
    this.#end(false)
  }

  /** False: nothing is read until the client's connection has taken something. */
  #read(data: Buffer): boolean {
    const body = this.#head ? this.#readHead(this.#head, data) : data
    if (body.length === 0) return true
    if (this.#long) {
      this.#long.read(body)
      if (this.#long.isComplete) this.#end(true)
      return !this.#long.waits
    }
    const chunk = Buffer.from(body.subarray(0, this.#left))
    this.#left -= chunk.length
    this.#parts.held(chunk)
    if (this.#left === 0) this.#end(true)
    return true
  }

  /** Returns what follows the head. */
  #readHead(start: Buffer, data: Buffer): Buffer {
    const have = Buffer.concat([start, data])
    const end = have.indexOf(headEnd)
    if (end < 0 && have.length <= longestHead) {
      this.#head = have
      return have.subarray(have.length)
    }
    if (end < 0 || !have.toString('latin1', 0, end).startsWith('HTTP/1.1 101 ')) {
      this.close()
      return have.subarray(have.length)
    }
    this.#head = undefined
    return have.subarray(end + headEnd.length)
  }

  #end(complete: boolean): void {
    clearInterval(this.#checks)
    this.#long?.close()
    this.#socket.destroy()
    this.#ended.resolve(complete)
    if (this.#head) this.#refused.reject(new Error('the worker did not send the body of its answer'))
  }
}
