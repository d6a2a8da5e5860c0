/**
 * Requests to an existing server: passed on unchanged, and so is the answer. A short answer is held back briefly, so
 * that another attempt can replace it if its worker fails. The body of a long one has a connection of its own.
 */

import type { Duplex } from 'node:stream'
import type { ReadBuffers } from '../../lib/read-buffers.ts'
import { passedBuffer } from '../../lib/young-buffers.ts'
import { type HttpHead, type HttpRequest, headers } from '../../wire/messages.ts'
import { pairsOf, valuesOf } from '../../wire/raw-headers.ts'
import type { Client } from '../client.ts'
import { type Sink, wholeBytes } from '../receiver.ts'
import type { Body } from '../request/body.ts'
import { brokenOff, costOf, outcomeOf } from './answer-head.ts'
import { ByteChannel } from './byte-channel.ts'
import { isEventStream, parseHead, parseRaw, readAnswer } from './http-head.ts'
import { answerHeaders } from './proxy-headers.ts'
import { type ProgramRequest, sendAttempt } from './send-attempt.ts'
import type { AttemptEnd, Carried, Transport } from './transport.ts'
import { tunnel } from './tunnel.ts'
import { bodyOf, type WorkerResponse } from './worker-response.ts'

export interface HttpTransportParts {
  http: HttpRequest
  body: Body
  client: Client
  /** An answer is held back for at most this time. */
  holdMs: number
  /** For the bodies of long answers. */
  buffers: ReadBuffers
}

/** A program's answer. */
interface Answer {
  head: HttpHead
  /** Chunks held back; empty once the answer is streamed. */
  held: Buffer[]
  trailers: string[]
}

export class HttpTransport implements Transport {
  readonly #parts: HttpTransportParts
  /** The request as the program receives it. */
  readonly http: HttpRequest
  readonly #request: ProgramRequest
  #answer: Answer | undefined
  /** Set once the answer is streamed. */
  #sink: Sink | undefined
  #tunnelled = false
  begun = false
  onBroken: NonNullable<Transport['onBroken']> = () => {}

  constructor(parts: HttpTransportParts) {
    this.#parts = parts
    const { http, body } = parts
    this.http = http
    const request = Buffer.from(`"params":null,"http":${JSON.stringify(http)}`)
    this.#request = { request, body, switching: http.upgrade === true }
    body.onBroken((problem) => this.onBroken(problem))
  }

  async carry(attempt: Carried): Promise<AttemptEnd | undefined> {
    const call = sendAttempt(withChannel(attempt), this.#request)
    try {
      const { response, upgraded } = await call.answer
      if (upgraded) return await this.#switch(response, upgraded, attempt)
      return await this.#receive(response, attempt)
    } finally {
      call.done()
    }
  }

  deliver(account: Record<string, string>): void {
    if (this.#tunnelled) return
    const { head, held, trailers } = this.#answer!
    if (this.#sink) this.#sink.end(pairsOf(trailers))
    else this.#parts.client.deliverProxied(withAccount(head, account), held, trailers)
  }

  async #receive(response: WorkerResponse, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = outcomeOf(response.headers)
    if (outcome !== 'result') {
      const { message = '', status = 500 } = JSON.parse((await bodyOf(response)).toString())
      return { outcome, message, status, cost: costOf(response.headers) }
    }
    await this.#take(response, attempt)
    if (!attempt.isCurrent()) return undefined
    const fields = { ...response.headers, ...response.trailers }
    const cost = costOf(fields)
    const failed = outcomeOf(fields)
    if (failed !== 'result') return brokenOff(failed, cost, fields)
    if (this.#answer) this.#answer.trailers = parseRaw(fields[headers.trailers])
    return { outcome: 'result', cost }
  }

  /** Holds the answer back, or streams it no faster than the client reads. */
  async #take(response: WorkerResponse, attempt: Carried): Promise<void> {
    const failed = Promise.withResolvers<never>()
    let channel: ByteChannel | undefined
    let timer: NodeJS.Timeout | undefined
    let bytes = 0
    const stream = () => {
      if (!this.begun && this.#answer && attempt.isCurrent()) this.#begin(this.#answer, attempt, channel)
    }
    const hold = (chunk: Buffer) => {
      this.#answer!.held.push(chunk)
      bytes += chunk.length
      if (bytes > wholeBytes) stream()
      return true
    }
    try {
      const read = readAnswer(response, {
        head: (head) => {
          if (!attempt.isCurrent()) return false
          this.#answer = { head, held: [], trailers: [] }
          channel = this.#openChannel(head, response, attempt, hold)
          channel?.refused.catch(failed.reject)
          // Workers announce the length only of answers that they have completely.
          if (response.headers['content-length'] === undefined) timer = setTimeout(stream, this.#parts.holdMs)
          if (isEventStream(head)) stream()
          return true
        },
        body: (chunk) => {
          if (!attempt.isCurrent()) return false
          if (!this.#sink) return hold(chunk)
          passedBuffer(chunk.length)
          return this.#sink.write(chunk)?.then(() => true) ?? true
        },
      })
      await Promise.race([read, failed.promise])
      const isResult = outcomeOf({ ...response.headers, ...response.trailers }) === 'result'
      if (isResult && !((await channel?.ended) ?? true)) throw new Error('the answer broke off')
    } finally {
      clearTimeout(timer)
      channel?.close()
    }
  }

  /** The connection for a long body. Undefined: the body follows its head. */
  #openChannel(
    head: HttpHead,
    response: WorkerResponse,
    { upstream: { address }, token, signal }: Carried,
    held: (chunk: Buffer) => void,
  ): ByteChannel | undefined {
    const ticket = response.headers[headers.channel]
    if (ticket === undefined) return undefined
    const bytes = Number(valuesOf(head.headers, 'content-length')[0])
    const { buffers } = this.#parts
    return new ByteChannel({ address, token, ticket: String(ticket), bytes, buffers, signal, held })
  }

  #begin({ head, held }: Answer, attempt: Carried, channel: ByteChannel | undefined): void {
    this.begun = true
    attempt.answering()
    const { client } = this.#parts
    const passedOn = withAccount(head, attempt.account())
    const first = held.splice(0)
    if (channel) {
      const long = client.beginLong(passedOn, first)
      this.#sink = { write: () => undefined, end: () => long.end() }
      channel.begin(long)
    } else this.#sink = client.beginProxied(passedOn, first, valuesOf(head.headers, 'trailer'))
  }

  /** The program has agreed to another protocol: the connection becomes a tunnel. */
  async #switch(
    answer: WorkerResponse,
    { socket: theirs, first }: { socket: Duplex; first: Buffer },
    attempt: Carried,
  ): Promise<AttemptEnd | undefined> {
    const { client, http } = this.#parts
    if (!attempt.isCurrent() || !client.socket) {
      theirs.destroy()
      return undefined
    }
    const { message, headers: raw } = parseHead(
      Buffer.from(String(answer.headers[headers.head]), 'base64url'),
      101,
    )
    this.#tunnelled = true
    this.begun = true
    const [protocol] = [...valuesOf(raw, 'upgrade'), ...valuesOf(http.headers, 'upgrade')]
    const switching = ['connection', 'upgrade', 'upgrade', protocol ?? '']
    const passedOn = [...answerHeaders(raw, attempt.account()), ...switching]
    const ours = client.switchProtocol({ message, headers: passedOn })
    if (first.length > 0) theirs.unshift(first)
    await tunnel(ours, theirs, attempt.signal)
    return { outcome: 'result' }
  }
}

/** Bodies of long answers take a connection of their own, unless it would be encrypted. */
function withChannel(attempt: Carried): Carried {
  if (attempt.upstream.address.tls) return attempt
  return { ...attempt, order: { ...attempt.order, channel: true } }
}

function withAccount(head: HttpHead, account: Record<string, string>): HttpHead {
  return { ...head, headers: answerHeaders(head.headers, account) }
}
