/** A kept-alive connection of a front to a program: one request after another. */

import { connect, type Socket } from 'node:net'
import type { HttpHead } from '../../wire/messages.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import type { Sink } from '../receiver.ts'
import { AnswerReader } from './answer-reader.ts'

const readBytes = 32 * 1024
/** Longer answers are streamed. */
const wholeBytes = 256 * 1024

/** One request on its way. Exactly one of `answered`, `failed` and `brokeOff` is called, unless it is cancelled. */
export interface ProgramCall {
  readonly method: string
  /** The whole answer, of which the client has nothing yet. */
  answered(head: HttpHead, body: Buffer[]): void
  /** A long answer begins; the rest goes to the sink. */
  begun(head: HttpHead, first: Buffer[]): Sink
  /** A long answer is complete. */
  ended(): void
  /** The client has nothing yet. `odd`: the program answers in a way that only the general path can read. */
  failed(why: 'odd' | 'unreachable' | 'broken'): void
  /** A long answer cannot be completed. */
  brokeOff(): void
}

export interface ConnectionOwner {
  /** It waits for the next request. */
  idle(connection: ProgramConnection): void
  closed(connection: ProgramConnection): void
}

export class ProgramConnection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #call: ProgramCall | undefined
  #reader: AnswerReader | undefined
  #sink: Sink | undefined
  #connected = false
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
    this.#sink = undefined
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

  /** False: nothing more is read until the socket is resumed. */
  #read(data: Buffer): boolean {
    const reader = this.#reader
    if (!reader || !this.#call) {
      // Nobody asked.
      this.#socket.destroy()
      return false
    }
    reader.read(data)
    if (reader.state === 'odd') return this.#fail('odd')
    if (reader.state === 'done') {
      this.#complete(this.#call, reader)
      return true
    }
    if (!this.#sink && reader.bytes > wholeBytes) this.#sink = this.#call.begun(reader.head!, reader.take())
    return this.#sink ? this.#pass(this.#sink, reader) : true
  }

  #complete(call: ProgramCall, reader: AnswerReader): void {
    const sink = this.#sink
    this.#call = this.#reader = this.#sink = undefined
    if (reader.keepsAlive) this.#owner.idle(this)
    else this.#socket.destroy()
    if (!sink) return call.answered(reader.head!, reader.body)
    for (const piece of reader.take()) void sink.write(piece)
    call.ended()
  }

  #pass(sink: Sink, reader: AnswerReader): boolean {
    let slow: Promise<void> | undefined
    for (const piece of reader.take()) slow = sink.write(piece) ?? slow
    if (!slow) return true
    slow.then(
      () => this.#socket.resume(),
      () => this.#socket.destroy(),
    )
    return false
  }

  #fail(why: 'odd' | 'unreachable' | 'broken'): false {
    const call = this.#call
    const begun = this.#sink !== undefined
    this.#call = this.#reader = this.#sink = undefined
    this.#socket.destroy()
    if (begun) call?.brokeOff()
    else call?.failed(why)
    return false
  }

  #closed(): void {
    this.#owner.closed(this)
    if (this.#call) this.#fail(this.#connected ? 'broken' : 'unreachable')
  }
}
