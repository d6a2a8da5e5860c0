/**
 * One request of the fast path. It is answered on its connection, unless Node's server gets it after all: that may happen
 * at any time before the answer.
 */

import type { HttpHead } from '../../wire/messages.ts'
import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'
import type { Fields } from '../cross-origin.ts'
import type { AnswerReceiver, DirectExchange } from '../direct/direct-request.ts'
import type { RequestProblem } from '../problem.ts'
import type { LongSink, Sink } from '../receiver.ts'
import { type AnswerText, proxiedText, wholeText } from './answer-text.ts'

/** Longer bodies are not copied behind the head: one string is cheaper to write than two buffers. */
export const shortBytes = 4 * 1024

/** Of a client that has disconnected. */
const nowhere: LongSink & Sink = { write: () => undefined, pass() {}, keep() {}, end() {}, breakOff() {} }

export interface ExchangeOwner {
  /** Sends the answer, the last word of the exchange. */
  send(text: AnswerText, body: readonly Buffer[]): void
  /** Passes the request to Node's server. Undefined: the client has disconnected. */
  lend(): DirectExchange | undefined
}

export class FastExchange implements DirectExchange, AnswerReceiver {
  readonly #owner: ExchangeOwner
  readonly #isHead: boolean
  readonly #fields: Fields | undefined
  #lent: DirectExchange | undefined
  #then: (() => void) | undefined
  /** It was answered or passed to Node's server, or its client has disconnected. */
  #isOver = false

  /** `fields`: of every answer that is not a program's. */
  constructor(owner: ExchangeOwner, isHead: boolean, fields?: Fields) {
    this.#owner = owner
    this.#isHead = isHead
    this.#fields = fields
  }

  onClose(then: (() => void) | undefined): void {
    if (this.#lent) this.#lent.onClose(then)
    else this.#then = then
  }

  client(): AnswerReceiver {
    return this.#lent?.client() ?? this
  }

  general(): void {
    this.lend()?.general()
  }

  deliver(answer: WholeAnswer, account: Account): void {
    const { status, fields } = answer
    const all = this.#fields ? { ...this.#fields, ...fields } : fields
    const text = wholeText({ status, fields: all }, account as Record<string, string>, this.#isHead)
    if (text) this.#send(text, [answer.body])
    else this.lend()?.client().deliver(answer, account)
  }

  deliverProxied(
    head: HttpHead,
    body: readonly Buffer[],
    trailers: readonly string[],
    taken?: () => void,
  ): void {
    // The memory of a long chunk is used again, and Node's server says when.
    const isLong = body.length === 1 && body[0]!.length > shortBytes
    const text = trailers.length === 0 && !isLong ? proxiedText(head, this.#isHead) : undefined
    if (text) this.#send(text, body)
    else this.lend()?.client().deliverProxied(head, body, trailers, taken)
  }

  beginLong(head: HttpHead, first: readonly Buffer[]): LongSink {
    return this.lend()?.client().beginLong(head, first) ?? nowhere
  }

  beginProxied(head: HttpHead, first: readonly Buffer[], trailerNames: readonly string[]): Sink {
    return this.lend()?.client().beginProxied(head, first, trailerNames) ?? nowhere
  }

  breakOff(): void {
    this.#lent?.client().breakOff()
  }

  refuse(problem: RequestProblem, account?: Account): void {
    this.lend()?.client().refuse(problem, account)
  }

  /** Undefined: it is over. */
  lend(): DirectExchange | undefined {
    if (this.#lent || this.#isOver) return this.#lent
    this.#isOver = true
    this.#lent = this.#owner.lend()
    if (!this.#lent) return undefined
    this.#lent.onClose(this.#then)
    this.#then = undefined
    return this.#lent
  }

  /** Its connection has closed. */
  closed(): void {
    if (this.#lent) return
    this.#isOver = true
    const then = this.#then
    this.#then = undefined
    then?.()
  }

  #send(text: AnswerText, body: readonly Buffer[]): void {
    if (this.#isOver) return
    this.#owner.send(text, this.#isHead ? [] : body)
    this.closed()
  }
}
