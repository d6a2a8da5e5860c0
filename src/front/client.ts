/**
 * One client's response. Only this class writes its head, ends it or breaks it off: requests to workloads and to an
 * existing server, built-in paths and problems all answer through it.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FrontLimits } from '../wire/front-settings.ts'
import type { HttpHead } from '../wire/messages.ts'
import { pairsOf, valuesOf } from '../wire/raw-headers.ts'
import type { Account, WholeAnswer } from '../wire/whole-answer.ts'
import { AnswerBuffer, type AnswerStore } from './answer-buffer.ts'
import { drained } from './drained.ts'
import { breakOff, RequestProblem, sendProblem } from './problem.ts'
import { type AnswerHead, type LongSink, type Receiver, type Sink, wholeBytes } from './receiver.ts'
import type { ClientResponse } from './response.ts'
import { ReadingWatch, watchSending } from './slow-clients.ts'

/** Chunk size for a large answer that is written from memory. */
const sliceBytes = 64 * 1024

/** Shorter bodies are copied behind the head: one string is cheaper to write than two buffers. */
const shortBytes = 4 * 1024

export type ClientLimits = Pick<FrontLimits, 'stallMs' | 'requestMs' | 'minRate'>

export class Client implements Receiver {
  readonly takesStreams = true
  /** Set: the client asks to switch protocols on this socket. */
  readonly socket: Socket | undefined
  readonly #response: ClientResponse
  readonly #answers: AnswerStore
  readonly #limits: ClientLimits
  /** Most clients read as fast as answers come, and need none. */
  #watch: ReadingWatch | undefined
  /** It was refused: what follows is not for it any more. */
  #refused = false
  /** Fields of every answer that is not a program's. */
  #fields: Readonly<Record<string, string>> = {}
  /** It asked for the id of its job. */
  #isAnnounced = false
  /** Memory that its answer takes while it is held. */
  #heldBytes = 0

  /** `answers` keeps what the client reads slowly. A client that reads or sends too slowly is disconnected. */
  constructor(response: ClientResponse, limits: ClientLimits, answers: AnswerStore, socket?: Socket) {
    const { req } = response
    this.#response = response
    this.#limits = limits
    this.#answers = answers
    this.socket = socket
    if (!socket && hasBody(req))
      watchSending(req, { windowMs: limits.requestMs, bytesPerSecond: limits.minRate }, () => {
        // A program that answers before the request is complete may expect little of it.
        if (!response.headersSent) this.refuse(tooSlow())
      })
  }

  /** True: it has disconnected. */
  get gone(): boolean {
    return this.#response.destroyed
  }

  onGone(then: () => void): void {
    this.#response.on('close', then)
  }

  attempted(): void {}

  /** Long answers share the memory of answers that wait for slow clients. */
  mayHold(bytes: number): boolean {
    if (bytes <= wholeBytes) return true
    const more = Math.max(0, bytes - this.#heldBytes)
    if (this.gone || !this.#answers.memory.take(more, this.#heldBytes)) return false
    if (this.#heldBytes === 0) this.onGone(() => this.#releaseHeld())
    this.#heldBytes += more
    return true
  }

  renamed(job: string): void {
    if (this.#isAnnounced) this.announce(job)
  }

  /** Tells a client that asked for it the id of its job, in an informational response (103). */
  announce(job: string): void {
    this.#isAnnounced = true
    if (this.#response.headersSent || this.gone) return
    const link = `</api/jobs/${encodeURIComponent(job)}/why>; rel=monitor`
    if (this.#response.req.httpVersion !== '1.0')
      this.#response.writeEarlyHints({ link, 'plimsoll-job': job })
  }

  refuse(problem: RequestProblem, account: Account = {}): void {
    if (this.#refused) return
    this.#refused = true
    sendProblem(this.#response, problem, { ...this.#fields, ...account })
  }

  breakOff(): void {
    breakOff(this.#response)
  }

  addFields(fields: Readonly<Record<string, string>>): void {
    this.#fields = fields
  }

  closeAfterwards(): void {
    this.#response.shouldKeepAlive = false
  }

  json(status: number, value: unknown): void {
    const body = Buffer.from(`${JSON.stringify(value)}\n`)
    const fields = { 'content-type': 'application/json', 'content-length': `${body.length}` }
    this.deliver({ status, fields, body }, {})
  }

  deliver({ body, ...head }: WholeAnswer, account: Account): void {
    if (this.#refused) return
    this.#response.writeHead(head.status, { ...this.#fields, ...head.fields, ...account })
    if (body.length > wholeBytes) return void this.#stream(body)
    this.#response.end(this.#isHead ? undefined : body)
    if (this.#response.writableLength > 0) this.#reading.start()
  }

  begin({ status, fields }: AnswerHead, account: Account): Sink {
    if (this.#refused) return nowhere
    this.#releaseHeld()
    this.#response.writeHead(status, { ...this.#fields, ...fields, ...account })
    this.#response.flushHeaders()
    return this.#sink()
  }

  /**
   * Answers with a program's complete response, unchanged. Trailers are names and values in turn. `taken` is called when a
   * body of one long chunk may be overwritten; never for others.
   */
  deliverProxied(
    head: HttpHead,
    body: readonly Buffer[],
    trailers: readonly string[],
    taken?: () => void,
  ): void {
    if (this.#refused) return
    if (trailers.length === 0 && body.length < 2) return this.#deliverOne(head, body[0], taken)
    const pairs = pairsOf(trailers)
    this.#writeProxiedHead(head, pairs.length > 0 ? [...new Set(pairs.map(([name]) => name))] : [])
    if (pairs.length > 0) this.#response.addTrailers(pairs)
    this.#response.end(this.#isHead ? undefined : body.length === 1 ? body[0] : Buffer.concat(body))
    if (this.#response.writableLength > 0) this.#reading.start()
  }

  /** As one write of the connection, if the body is short. */
  #deliverOne(head: HttpHead, body: Buffer | undefined, taken?: () => void): void {
    this.#writeProxiedHead(head, [])
    if (this.#isHead || !body) this.#response.end()
    else if (body.length > shortBytes) this.#response.end(body, taken)
    else this.#response.end(body.toString('latin1'), 'latin1')
    if (this.#response.writableLength > 0) this.#reading.start()
  }

  /** Starts to stream a program's response: the head and the first chunks are sent at once. */
  beginProxied(head: HttpHead, first: readonly Buffer[], trailerNames: readonly string[]): Sink {
    if (this.#refused) return nowhere
    this.#writeProxiedHead(head, trailerNames)
    this.#response.flushHeaders()
    for (const chunk of first) this.#response.write(chunk)
    return this.#sink()
  }

  /** Starts to stream a program's response of known length. */
  beginLong(head: HttpHead, first: readonly Buffer[]): LongSink {
    if (this.#refused) return nowhere
    this.#writeProxiedHead(head, [])
    this.#response.flushHeaders()
    for (const chunk of first) this.#response.write(chunk)
    const buffer = this.#answerBuffer()
    return {
      pass: (chunk, taken) => buffer.pass(chunk, taken),
      keep: () => buffer.keep(),
      end: () => buffer.end(() => this.#end()),
      breakOff: () => this.breakOff(),
    }
  }

  /** Agrees to another protocol. The caller owns the socket from here on. */
  switchProtocol({ message, headers }: Omit<HttpHead, 'status'>): Socket {
    const socket = this.socket!
    this.#response.writeHead(101, message, headers)
    this.#response.flushHeaders()
    this.#response.detachSocket(socket)
    return socket
  }

  #writeProxiedHead({ status, message, headers }: HttpHead, trailerNames: readonly string[]): void {
    const { req } = this.#response
    const canFollow =
      trailerNames.length > 0 &&
      req.httpVersion !== '1.0' &&
      req.method !== 'HEAD' &&
      ![204, 304].includes(status) &&
      valuesOf(headers, 'content-length').length === 0
    const announced = canFollow ? ['trailer', trailerNames.join(', ')] : []
    this.#response.writeHead(status, message, [...headers, ...announced])
  }

  #sink(): Sink {
    const buffer = this.#answerBuffer()
    return {
      write: (chunk) => (this.#isHead ? undefined : buffer.write(chunk)),
      end: (trailers = {}) => buffer.end(() => this.#end(trailers)),
    }
  }

  #answerBuffer(): AnswerBuffer {
    return new AnswerBuffer(this.#response, this.#answers, {
      behind: () => this.#reading.start(),
      caughtUp: () => this.#reading.stop(),
      broken: () => this.breakOff(),
    })
  }

  #end(trailers: Parameters<Sink['end']>[0] = {}): void {
    this.#response.addTrailers(trailers)
    this.#response.end()
    if (this.#response.writableLength > 0) this.#reading.start()
  }

  /** Sends an answer that is in memory anyway, so that none of it needs to be kept elsewhere. */
  async #stream(body: Buffer): Promise<void> {
    const response = this.#response
    for (let at = 0; at < body.length && !this.gone && !this.#isHead; at += sliceBytes) {
      if (response.write(body.subarray(at, at + sliceBytes))) continue
      this.#reading.start()
      await drained(response)
    }
    if (!this.gone) this.#end()
  }

  get #reading(): ReadingWatch {
    const { stallMs: windowMs, minRate: bytesPerSecond } = this.#limits
    this.#watch ??= new ReadingWatch(this.#response, { windowMs, bytesPerSecond }, () => this.breakOff())
    return this.#watch
  }

  #releaseHeld(): void {
    this.#answers.memory.give(this.#heldBytes)
    this.#heldBytes = 0
  }

  get #isHead(): boolean {
    return this.#response.req.method === 'HEAD'
  }
}

const nowhere: Sink & LongSink = { write: () => undefined, pass() {}, keep() {}, end() {}, breakOff() {} }

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function tooSlow(): RequestProblem {
  return new RequestProblem(408, 'too-slow', 'The body of the request arrives too slowly.', {
    headers: { connection: 'close' },
  })
}
