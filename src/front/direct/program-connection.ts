/** A kept-alive connection of a front to a program: one request after another. */

import { connect, type Socket } from 'node:net'
import type { HttpHead } from '../../wire/messages.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import { AnswerReader } from './answer-reader.ts'

const readBytes = 32 * 1024
/** Time allowed for a connection. */
const connectMs = 1_000
/** An answer that takes longer from its head to its end is one that the general path streams. */
const bodyMs = 200
/** A request that takes longer is reported. */
const longMs = 1_000
/** A request that takes longer starts again on the general path, where time limits apply. */
const longestMs = 10_000

/**
 * `odd`: the program answers in a way that only the general path can read. `broken`: the connection was closed. `slow`: it
 * takes too long.
 */
export type CallFailure = 'odd' | 'unreachable' | 'broken' | 'slow'

/** One request on its way. Exactly one of `answered` and `failed` is called, unless it is cancelled. */
export interface ProgramCall {
  readonly method: string
  /** Must not throw. */
  answered(head: HttpHead, body: Buffer[]): void
  failed(why: CallFailure): void
  /** It has been in progress for a second. */
  lasts(): void
}

export interface ConnectionOwner {
  now(): number
  /** It waits for the next request. */
  idle(connection: ProgramConnection): void
  closed(connection: ProgramConnection): void
}

export class ProgramConnection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #call: ProgramCall | undefined
  #reader: AnswerReader | undefined
  #connected = false
  #sentAt = 0
  /** When the head of the answer was found to have arrived. */
  #headAt: number | undefined
  #isLong = false
  isBusy = false
  /** When it became idle. */
  idleSince = 0

  constructor(address: ProgramAddress, owner: ConnectionOwner) {
    this.#owner = owner
    const buffer = Buffer.allocUnsafeSlow(readBytes)
    const socket = connect({
      ...('path' in address ? { path: address.path } : { host: address.host, port: address.port }),
      noDelay: true,
      onread: { buffer, callback: (bytes) => this.#read(buffer.subarray(0, bytes)) },
    })
    this.#socket = socket
    socket.on('connect', () => {
      this.#connected = true
    })
    // The close event follows.
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    socket.on('close', () => this.#closed())
  }

  send(text: string, call: ProgramCall): void {
    this.isBusy = true
    this.#call = call
    this.#reader = new AnswerReader(call.method)
    this.#sentAt = this.#owner.now()
    this.#headAt = undefined
    this.#isLong = false
    this.#socket.write(text, 'latin1')
  }

  /** Ends the call without a word. */
  cancel(): void {
    this.#call = undefined
    this.close()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Checks how long its call has taken. */
  check(now: number): void {
    if (!this.#call) return
    const ms = now - this.#sentAt
    if (!this.#connected && ms >= connectMs) return this.#fail('unreachable')
    if (ms >= longestMs) return this.#fail('slow')
    if (this.#reader!.head) {
      this.#headAt ??= now
      if (now - this.#headAt >= bodyMs) return this.#fail('odd')
    }
    if (ms < longMs || this.#isLong) return
    this.#isLong = true
    this.#call.lasts()
  }

  #read(data: Buffer): boolean {
    const reader = this.#reader
    const call = this.#call
    if (!reader || !call) {
      // Nobody asked.
      this.#socket.destroy()
      return false
    }
    reader.read(data)
    if (reader.state === 'odd') this.#fail('odd')
    else if (reader.state === 'done') this.#complete(call, reader)
    return true
  }

  #complete(call: ProgramCall, reader: AnswerReader): void {
    this.#call = this.#reader = undefined
    if (reader.keepsAlive) this.#owner.idle(this)
    else this.#socket.destroy()
    call.answered(reader.head!, reader.body)
  }

  #fail(why: CallFailure): void {
    const call = this.#call
    this.#call = this.#reader = undefined
    this.#socket.destroy()
    call?.failed(why)
  }

  #closed(): void {
    this.#owner.closed(this)
    if (this.#call) this.#fail(this.#connected ? 'broken' : 'unreachable')
  }
}
