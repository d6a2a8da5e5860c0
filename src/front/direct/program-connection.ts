/** A kept-alive connection of a front to a program: one request after another. */

import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ReadBuffers } from '../../lib/read-buffers.ts'
import type { HttpHead } from '../../wire/messages.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import type { LongSink } from '../receiver.ts'
import { AnswerReader } from './answer-reader.ts'
import { LongAnswer } from './long-answer.ts'
import { ReadAgain } from './odd-answer.ts'

/** Of the buffer of each connection; long answers are read into larger ones. */
const readBytes = 32 * 1024
/** A shorter body is copied behind its head. */
const copiedBytes = 4 * 1024
/** Time allowed for a connection. */
const connectMs = 1_000
/** An answer that takes longer from its head to its end is streamed: here, if its length is known. */
const bodyMs = 200
/** A request that takes longer is reported. */
const longMs = 1_000
/** A request that takes longer starts again on the general path, where time limits apply, if it may be repeated. */
const longestMs = 10_000

/**
 * `odd`: the program answers in a way that only the general path can read. `broken`: the connection was closed. `slow`: it
 * takes too long.
 */
export type CallFailure = 'odd' | 'unreachable' | 'broken' | 'slow'

/**
 * One request on its way. Exactly one of `answered`, `begins`, `odd` and `failed` is called, and exactly one of `completed`
 * and `brokenOff` after `begins`, unless it is cancelled. They must not throw.
 */
export interface ProgramCall {
  readonly method: string
  /** False: once it was sent, it fails only if its connection breaks, and an answer that is odd is given to `odd`. */
  readonly mayRepeat: boolean
  /** `taken` must be called when `body` is not needed any more. */
  answered(head: HttpHead, body: Buffer[], taken: () => void): void
  /** A long answer begins with these bytes. The rest goes to the sink; undefined: the answer cannot be sent. */
  begins(head: HttpHead, first: Buffer[]): LongSink | undefined
  completed(): void
  /** The program does not send the rest. */
  brokenOff(): void
  /** In place of the others: the answer is still to be read, from its beginning. Destroy the connection at its end. */
  odd(connection: Duplex): void
  failed(why: CallFailure): void
  /** It has been in progress for a second. */
  lasts(): void
}

export interface ConnectionOwner {
  now(): number
  /** A long answer has begun. */
  answering(): void
  /** It waits for the next request. */
  idle(connection: ProgramConnection): void
  closed(connection: ProgramConnection): void
}

export class ProgramConnection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #call: ProgramCall | undefined
  #reader: AnswerReader | undefined
  #long: LongAnswer | undefined
  /** What has been read of an answer that may still turn out odd, if its request must not be repeated. */
  #read: Buffer[] = []
  /** Reads an odd answer. */
  #again: ReadAgain | undefined
  readonly #buffers: ReadBuffers
  readonly #small = Buffer.allocUnsafeSlow(readBytes)
  /** What is read goes there. */
  #place: Buffer = this.#small
  #connected = false
  #sentAt = 0
  /** When the head of the answer was found to have arrived. */
  #headAt: number | undefined
  #isLong = false
  isBusy = false
  /** A long answer has begun. */
  isAnswering = false
  /** When it became idle. */
  idleSince = 0

  constructor(address: ProgramAddress, buffers: ReadBuffers, owner: ConnectionOwner) {
    this.#owner = owner
    this.#buffers = buffers
    const socket = connect({
      ...('path' in address ? { path: address.path } : { host: address.host, port: address.port }),
      noDelay: true,
      onread: {
        // Called before the first read and after each one.
        buffer: () => {
          this.#place = this.#long?.place ?? this.#reader?.place ?? this.#small
          return this.#place
        },
        callback: (bytes) => this.#receive(this.#place.subarray(0, bytes)),
      },
    })
    this.#socket = socket
    socket.on('connect', () => {
      this.#connected = true
    })
    // The close event follows.
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.on('close', (hadError) => this.#closed(hadError))
  }

  /** `body`: follows the text. */
  send(text: string, body: Buffer | undefined, call: ProgramCall): void {
    this.isBusy = true
    this.isAnswering = false
    this.#call = call
    this.#reader = new AnswerReader(call.method, this.#buffers)
    this.#sentAt = this.#owner.now()
    this.#headAt = undefined
    this.#isLong = false
    this.#write(text, body)
  }

  /** One string is cheaper to write than two buffers, if it is short. */
  #write(text: string, body: Buffer | undefined): void {
    const socket = this.#socket
    if (!body || body.length === 0) socket.write(text, 'latin1')
    else if (body.length <= copiedBytes) socket.write(text + body.toString('latin1'), 'latin1')
    else {
      socket.cork()
      socket.write(text, 'latin1')
      socket.write(body)
      socket.uncork()
    }
  }

  /** Ends the call without a word. */
  cancel(): void {
    this.#long?.close()
    this.#call = this.#long = undefined
    this.close()
    this.#again?.destroy()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Checks how long its call has taken. */
  check(now: number): void {
    if (!this.#call) return
    if (this.#long) return this.#long.check(now) ? undefined : this.#fail('slow')
    const ms = now - this.#sentAt
    if (!this.#connected && ms >= connectMs) return this.#fail('unreachable')
    if (ms >= longestMs && this.#call.mayRepeat) return this.#fail('slow')
    if (this.#reader!.head) {
      this.#headAt ??= now
      if (now - this.#headAt >= bodyMs) {
        if (!this.#reader!.stopEarly()) return this.#odd(this.#call)
        return this.#begin(this.#call, this.#reader!)
      }
    }
    if (ms < longMs || this.#isLong) return
    this.#isLong = true
    this.#call.lasts()
  }

  /** False: nothing is read until it is wanted. */
  #receive(data: Buffer): boolean {
    const reader = this.#reader
    const call = this.#call
    if (call && reader && this.#long) return this.#pass(call, reader, this.#long, data)
    if (this.#again) return this.#again.push(Buffer.from(data))
    if (!reader || !call) {
      // Nobody asked.
      this.#socket.destroy()
      return false
    }
    reader.read(data)
    if (reader.state === 'done') this.#complete(call, reader)
    else if (reader.state === 'long') this.#begin(call, reader)
    else {
      // An answer of known length is not odd.
      if (!call.mayRepeat && reader.state !== 'length') this.#read.push(Buffer.from(data))
      if (reader.state === 'odd') this.#odd(call)
    }
    return true
  }

  #odd(call: ProgramCall): void {
    if (call.mayRepeat) return this.#fail('odd')
    this.#call = this.#reader = undefined
    this.isAnswering = true
    this.#owner.answering()
    this.#again = new ReadAgain(this.#read.splice(0), {
      resume: () => void this.#socket.resume(),
      close: () => this.close(),
    })
    call.odd(this.#again)
  }

  #begin(call: ProgramCall, reader: AnswerReader): void {
    this.isAnswering = true
    this.#read.length = 0
    this.#owner.answering()
    const sink = call.begins(reader.head!, reader.body)
    if (!sink) return this.cancel()
    // It may have been cancelled just now.
    if (this.#call !== call) return
    const resume = () => void this.#socket.resume()
    this.#long = new LongAnswer(sink, reader.left, { buffers: this.#buffers, now: this.#owner.now, resume })
  }

  /** False: nothing is read until the client's connection has taken something. */
  #pass(call: ProgramCall, reader: AnswerReader, long: LongAnswer, data: Buffer): boolean {
    const tooMany = long.read(data)
    if (!long.isComplete) return !long.waits
    this.#long = this.#call = this.#reader = undefined
    long.close()
    if (reader.keepsAlive && tooMany === 0) this.#owner.idle(this)
    else this.#socket.destroy()
    call.completed()
    return true
  }

  #complete(call: ProgramCall, reader: AnswerReader): void {
    this.#call = this.#reader = undefined
    this.#read.length = 0
    if (reader.keepsAlive) this.#owner.idle(this)
    else this.#socket.destroy()
    call.answered(reader.head!, reader.body, () => reader.release())
  }

  #fail(why: CallFailure): void {
    const [call, long] = [this.#call, this.#long]
    this.#call = this.#reader = this.#long = undefined
    this.#socket.destroy()
    if (!long) return call?.failed(why)
    long.close()
    call?.brokenOff()
  }

  #closed(hadError: boolean): void {
    this.#owner.closed(this)
    if (hadError) this.#again?.destroy()
    else this.#again?.push(null)
    if (this.#call) this.#fail(this.#connected ? 'broken' : 'unreachable')
  }
}
