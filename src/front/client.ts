/**
 * One client's response. Only this class writes its head, ends it or breaks it off: requests to workloads and to an
 * existing server, built-in paths and problems all answer through it.
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpHead } from '../wire/messages.ts'
import { pairsOf, valuesOf } from '../wire/raw-headers.ts'
import type { Account, WholeAnswer } from '../wire/whole-answer.ts'
import { drained } from './drained.ts'
import { breakOff, type RequestProblem, sendProblem } from './problem.ts'
import type { AnswerHead, Receiver, Sink } from './receiver.ts'

/** Chunk size for a large answer that is written from memory. */
const sliceBytes = 64 * 1024

export class Client implements Receiver {
  readonly wholeBytes = 256 * 1024
  readonly takesStreams = true
  /** Set: the client asks to switch protocols on this socket. */
  readonly socket: Socket | undefined
  readonly #response: ServerResponse
  readonly #stallMs: number

  /** A client that reads nothing of its answer for `stallMs` is disconnected. */
  constructor(response: ServerResponse, stallMs: number, socket?: Socket) {
    this.#response = response
    this.#stallMs = stallMs
    this.socket = socket
  }

  /** True: it has disconnected. */
  get gone(): boolean {
    return this.#response.destroyed
  }

  onGone(then: () => void): void {
    this.#response.on('close', then)
  }

  attempted(): void {}

  /** Tells a client that asked for it the id of its job, in an informational response (103). */
  announce(job: string): void {
    const link = `</api/jobs/${encodeURIComponent(job)}/why>; rel=monitor`
    if (this.#response.req.httpVersion !== '1.0')
      this.#response.writeEarlyHints({ link, 'plimsoll-job': job })
  }

  refuse(problem: RequestProblem, account: Account = {}): void {
    sendProblem(this.#response, problem, account)
  }

  breakOff(): void {
    breakOff(this.#response)
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
    if (body.length > this.wholeBytes) return void this.#stream(body, this.begin(head, account))
    this.#response.writeHead(head.status, { ...head.fields, ...account })
    this.#response.end(this.#isHead ? undefined : body)
  }

  begin({ status, fields }: AnswerHead, account: Account): Sink {
    this.#response.writeHead(status, { ...fields, ...account })
    this.#response.flushHeaders()
    return this.#sink()
  }

  /** Answers with a program's complete response, unchanged. Trailers are names and values in turn. */
  deliverProxied(head: HttpHead, body: readonly Buffer[], trailers: readonly string[]): void {
    const pairs = pairsOf(trailers)
    this.#writeProxiedHead(head, [...new Set(pairs.map(([name]) => name))])
    for (const chunk of body) this.#response.write(chunk)
    this.#sink().end(pairs)
  }

  /** Starts to stream a program's response: the head and the first chunks are sent at once. */
  beginProxied(head: HttpHead, first: readonly Buffer[], trailerNames: readonly string[]): Sink {
    this.#writeProxiedHead(head, trailerNames)
    this.#response.flushHeaders()
    for (const chunk of first) this.#response.write(chunk)
    return this.#sink()
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
    const response = this.#response
    const stalled = { ms: this.#stallMs, giveUp: () => breakOff(response) }
    return {
      write: (chunk) =>
        this.#isHead || response.write(chunk) || response.destroyed ? undefined : drained(response, stalled),
      end: (trailers = {}) => {
        response.addTrailers(trailers)
        response.end()
      },
    }
  }

  /** Waits for a slow client after each slice, so that it delays nobody else and times out. */
  async #stream(body: Buffer, sink: Sink): Promise<void> {
    for (let at = 0; at < body.length && !this.gone; at += sliceBytes) {
      await sink.write(body.subarray(at, at + sliceBytes))
    }
    sink.end()
  }

  get #isHead(): boolean {
    return this.#response.req.method === 'HEAD'
  }
}
