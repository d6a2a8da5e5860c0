/** Requests to a program: passed on as they are, as is the answer, which is held back for a moment if it is short. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type AttemptOutcome, type HttpHead, type HttpRequest, headers } from '../../wire/messages.ts'
import { pairsOf, valuesOf } from '../../wire/raw-headers.ts'
import { costOf } from '../answer-head.ts'
import { breakOff } from '../problem.ts'
import type { GrowingBody } from '../request/growing-body.ts'
import { headFrom, parseHead, parseRaw } from '../request/http-head.ts'
import { answerHeaders } from '../request/raw-headers.ts'
import { sendAttempt } from './send-attempt.ts'
import { type AttemptEnd, type Carried, drained, type Transport } from './transport.ts'
import { tunnel } from './tunnel.ts'

/** Larger answers are not held back: they are passed on as they come. */
const wholeBytes = 256 * 1024

export interface HttpTransportParts {
  http: HttpRequest
  body: GrowingBody
  response: ServerResponse
  /** Of a client that wants to switch protocols. */
  socket?: Socket
  /** A client that takes nothing of its answer for so long is cut off. */
  stallMs: number
  /** An answer is held back for at most this time, so that another worker can still give it. */
  holdMs: number
}

/** What a program answered. */
interface Answer {
  head: HttpHead
  /** Until it begins to be passed on. */
  held: Buffer[]
  trailers: string[]
}

export class HttpTransport implements Transport {
  readonly #parts: HttpTransportParts
  readonly asked: Transport['asked']
  #answer: Answer | undefined
  #tunnelled = false
  begun = false
  onSpoilt: NonNullable<Transport['onSpoilt']> = () => {}

  constructor(parts: HttpTransportParts) {
    this.#parts = parts
    this.asked = { params: null, http: parts.http }
    parts.body.onBroken((problem) => this.onSpoilt(problem))
  }

  async carry(attempt: Carried): Promise<AttemptEnd | undefined> {
    const call = sendAttempt(attempt, this.#parts.body)
    try {
      const { response, upgraded } = await call.came
      if (upgraded) return await this.#switch(response, upgraded, attempt)
      return await this.#receive(response, attempt)
    } finally {
      call.done()
    }
  }

  deliver(account: Record<string, string>): void {
    if (this.#tunnelled) return
    const { response } = this.#parts
    const { held, trailers } = this.#answer!
    if (!this.begun) this.#writeHead(account, [...new Set(pairsOf(trailers).map(([name]) => name))])
    for (const chunk of held) response.write(chunk)
    if (trailers.length > 0) response.addTrailers(pairsOf(trailers))
    response.end()
  }

  async #receive(response: IncomingMessage, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = outcomeOf(response.headers)
    if (outcome !== 'result') {
      const { message = '', status = 500 } = JSON.parse(Buffer.concat(await response.toArray()).toString())
      return { outcome, message, status, cost: costOf(response.headers) }
    }
    const { head, body } = await headFrom(response)
    if (!attempt.isCurrent()) return undefined
    await this.#take({ head, held: [], trailers: [] }, body, attempt)
    const fields = { ...response.headers, ...response.trailers }
    const cost = costOf(fields)
    // The program broke off, and the worker knows why.
    const failed = outcomeOf(fields)
    if (failed !== 'result') {
      if (this.begun) throw new Error(failed)
      return { outcome: failed, message: `the answer broke off (${failed})`, status: 502, cost }
    }
    if (this.#answer) this.#answer.trailers = parseRaw(fields[headers.trailers])
    return { outcome: 'result', cost }
  }

  /** Holds the answer back, or passes it on as it comes, no faster than the client takes it. */
  async #take(answer: Answer, body: AsyncIterable<Buffer>, attempt: Carried): Promise<void> {
    const { response, stallMs, holdMs } = this.#parts
    this.#answer = answer
    const passOn = () => {
      if (this.begun || !attempt.isCurrent()) return
      this.begun = true
      attempt.answering()
      this.#writeHead(attempt.account(), valuesOf(answer.head.headers, 'trailer'))
      response.flushHeaders()
      for (const chunk of answer.held.splice(0)) response.write(chunk)
    }
    const timer = setTimeout(passOn, holdMs)
    try {
      if (isEventStream(answer.head)) passOn()
      let bytes = 0
      for await (const chunk of body) {
        if (!attempt.isCurrent()) return
        bytes += chunk.length
        answer.held.push(chunk)
        if (bytes > wholeBytes) passOn()
        if (!this.begun) continue
        const [last] = answer.held.splice(0)
        const stalled = { ms: stallMs, giveUp: () => breakOff(response) }
        if (last && !response.write(last)) await drained(response, stalled)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #writeHead(account: Record<string, string>, trailerNames: readonly string[]): void {
    const { status, message, headers: raw } = this.#answer!.head
    const { response } = this.#parts
    const canFollow =
      trailerNames.length > 0 &&
      response.req.httpVersion !== '1.0' &&
      response.req.method !== 'HEAD' &&
      ![204, 304].includes(status) &&
      valuesOf(raw, 'content-length').length === 0
    const announced = canFollow ? ['trailer', trailerNames.join(', ')] : []
    response.writeHead(status, message, [...answerHeaders(raw, account), ...announced])
  }

  /** The program has agreed to another protocol: from here on only bytes go to and fro. */
  async #switch(
    answer: IncomingMessage,
    { socket: theirs, first }: { socket: Duplex; first: Buffer },
    attempt: Carried,
  ): Promise<AttemptEnd | undefined> {
    const { response, socket, http } = this.#parts
    if (!attempt.isCurrent() || !socket) {
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
    response.writeHead(101, message, [...answerHeaders(raw, attempt.account()), ...switching])
    response.flushHeaders()
    response.detachSocket(socket)
    if (first.length > 0) theirs.unshift(first)
    await tunnel(socket, theirs, attempt.signal)
    return { outcome: 'result' }
  }
}

function outcomeOf(fields: NodeJS.Dict<string | string[]>): AttemptOutcome {
  return String(fields[headers.outcome] ?? 'refused') as AttemptOutcome
}

/** What happens is to be seen when it happens. */
function isEventStream({ headers: raw }: HttpHead): boolean {
  return valuesOf(raw, 'content-type').some((type) => /^\s*text\/event-stream\s*(;|$)/i.test(type))
}
