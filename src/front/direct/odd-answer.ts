/**
 * An answer that only a full parser can read, to a request that must not be sent again: Node's HTTP client reads it from
 * the bytes that have arrived and the rest of the connection. It is passed on as the general path passes on answers.
 */

import { type IncomingMessage, request } from 'node:http'
import { Duplex } from 'node:stream'
import { type HttpHead, headers as names } from '../../wire/messages.ts'
import { endToEnd, pairsOf, valuesOf } from '../../wire/raw-headers.ts'
import { type Sink, wholeBytes } from '../receiver.ts'
import { isEventStream } from '../transports/http-head.ts'

/** Maximum size of an answer's head, as on the general path. */
const maxHeadBytes = 256 * 1024
/** The front announces the trailers to the client. */
const announced: ReadonlySet<string> = new Set(['trailer'])

/** The rest of a program's connection, behind what was read of it. What is written to it has been sent already. */
export class ReadAgain extends Duplex {
  readonly #rest: { resume(): void; close(): void }

  constructor(read: readonly Buffer[], rest: { resume(): void; close(): void }) {
    super()
    this.#rest = rest
    for (const chunk of read) this.push(chunk)
  }

  override _read(): void {
    this.#rest.resume()
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#rest.close()
    done(error)
  }
}

/** Either `whole` is called, or `begins` and then `completed` or `brokenOff`, or `brokenOff` alone. */
export interface OddAnswerEvents {
  /** `work`: as the program states it. */
  whole(head: HttpHead, body: readonly Buffer[], trailers: readonly string[], work: number | undefined): void
  begins(head: HttpHead, first: readonly Buffer[]): Sink | undefined
  completed(): void
  /** The connection was closed too early. */
  brokenOff(): void
}

/** `holdMs`: a short answer is held back until it is complete, for at most this time. */
export function passOddAnswer(
  connection: Duplex,
  { method, holdMs }: { method: string; holdMs: number },
  on: OddAnswerEvents,
): void {
  const answer = new OddAnswer(connection, holdMs, on)
  const call = request({
    ...{ createConnection: () => connection, method, maxHeaderSize: maxHeadBytes },
    headers: { 'content-length': 0 },
  })
  call.on('error', () => answer.broken())
  call.on('response', (response) => answer.read(response))
  call.end()
}

class OddAnswer {
  readonly #connection: Duplex
  readonly #holdMs: number
  readonly #on: OddAnswerEvents
  readonly #held: Buffer[] = []
  #heldBytes = 0
  #sink: Sink | undefined
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(connection: Duplex, holdMs: number, on: OddAnswerEvents) {
    this.#connection = connection
    this.#holdMs = holdMs
    this.#on = on
  }

  read(response: IncomingMessage): void {
    const { statusCode: status = 0, statusMessage: message = '', rawHeaders } = response
    const head: HttpHead = { status, message, headers: endToEnd(rawHeaders, { kept: announced }) }
    this.#timer = setTimeout(() => this.#begin(head), this.#holdMs)
    response.on('data', (chunk: Buffer) => this.#data(chunk, response, head))
    response.on('end', () => this.#end(response, head))
    response.on('error', () => {})
    response.on('close', () => this.broken())
    if (isEventStream(head)) this.#begin(head)
  }

  broken(): void {
    if (this.#close()) this.#on.brokenOff()
  }

  #data(chunk: Buffer, response: IncomingMessage, head: HttpHead): void {
    if (this.#isOver) return
    if (this.#sink) {
      const taken = this.#sink.write(chunk)
      if (taken) response.pause()
      void taken?.then(() => response.resume())
      return
    }
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes > wholeBytes) this.#begin(head)
  }

  #begin(head: HttpHead): void {
    if (this.#sink || this.#isOver) return
    clearTimeout(this.#timer)
    this.#sink = this.#on.begins(head, this.#held.splice(0))
    if (!this.#sink) this.#close()
  }

  #end({ rawTrailers }: IncomingMessage, head: HttpHead): void {
    if (!this.#close()) return
    const work = workIn(rawTrailers) ?? workIn(head.headers)
    if (!this.#sink) return this.#on.whole(head, this.#held, rawTrailers, work)
    this.#sink.end(pairsOf(rawTrailers))
    this.#on.completed()
  }

  /** False: it was over. */
  #close(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#connection.destroy()
    return true
  }
}

/** Undefined: the program states none. */
function workIn(raw: readonly string[]): number | undefined {
  const [value = ''] = valuesOf(raw, names.work)
  const work = value.trim() === '' ? Number.NaN : Number(value)
  return work >= 0 && work < Infinity ? work : undefined
}
