/** Requests for workloads: parameters and a kept body go to the worker, and its answer comes with the head that it has. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { type AttemptOutcome, attemptPath, headers } from '../wire/messages.ts'
import { bearer } from '../wire/token.ts'
import type { Quantity } from '../worker/metering.ts'
import { costOf, fieldsOf } from './answer-head.ts'
import type { KeptBody } from './body.ts'
import { breakOff } from './problem.ts'
import { type AttemptEnd, type Carried, drained, type Transport } from './transport.ts'

/** Answers up to this size are delivered when the brain has agreed; longer ones are passed on as they come. */
const wholeBytes = 256 * 1024

export interface WorkloadTransportParts {
  /** As the client sent them. */
  params: Record<string, unknown>
  body: KeptBody
  /** False: the body held parameters, and is not for the workload. */
  sendBody: boolean
  request: IncomingMessage
  response: ServerResponse
  /** A client that takes nothing of its answer for so long is cut off. */
  stallMs: number
  /** What answers say of their cost in headers of their own. */
  quantities: readonly Quantity[]
}

/** An answer of the workload that is complete, or has begun. */
interface Answer {
  status: number
  fields: Record<string, string>
  whole: Buffer | undefined
}

export class WorkloadTransport implements Transport {
  readonly #parts: WorkloadTransportParts
  readonly asked: Transport['asked']
  #answer: Answer | undefined
  /** Of an answer that is passed on as it comes: what its end says of its cost. */
  #trailers: Record<string, string> = {}
  begun = false

  constructor(parts: WorkloadTransportParts) {
    this.#parts = parts
    this.asked = { params: parts.params }
  }

  async carry(attempt: Carried): Promise<AttemptEnd | undefined> {
    const head = Buffer.from(JSON.stringify(attempt.head))
    const response = await attempt.upstream.dispatcher.request({
      method: 'POST',
      path: attemptPath,
      headers: {
        authorization: bearer(attempt.token),
        'content-type': 'application/octet-stream',
        [headers.headBytes]: `${head.length}`,
      },
      body: this.#bodyOf(head),
      signal: attempt.signal,
    })
    if (attempt.isCurrent()) return this.#receive(response, attempt)
    response.body.destroy()
    return undefined
  }

  deliver(account: Record<string, string>): void {
    const { request, response } = this.#parts
    if (this.begun) {
      response.addTrailers(this.#trailers)
      response.end()
    } else {
      const { status, fields, whole } = this.#answer!
      response.writeHead(status, { ...fields, ...account })
      response.end(request.method === 'HEAD' ? undefined : whole)
    }
  }

  async #receive(response: Dispatcher.ResponseData, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = String(response.headers[headers.outcome] ?? 'refused') as AttemptOutcome
    if (outcome !== 'result') {
      const { message = '', status = 500 } = (await response.body.json()) as {
        message?: string
        status?: number
      }
      return { outcome, message, status, cost: costOf(response.headers, this.#parts.quantities) }
    }
    const answer: Answer = {
      status: response.statusCode,
      fields: fieldsOf(response.headers),
      whole: undefined,
    }
    const first: Buffer[] = []
    let bytes = 0
    for await (const chunk of response.body.iterator({ destroyOnReturn: false })) {
      first.push(chunk)
      bytes += chunk.length
      if (bytes > wholeBytes) break
    }
    if (!attempt.isCurrent()) return undefined
    this.#answer = answer
    if (bytes > wholeBytes) await this.#stream(answer, first, response, attempt)
    else answer.whole = Buffer.concat(first)
    const { quantities } = this.#parts
    const said = { ...response.headers, ...(response.trailers as IncomingHttpHeaders) }
    for (const { header } of quantities) this.#trailers[header] = String(said[header] ?? '')
    return { outcome, cost: costOf(said, quantities) }
  }

  /** Passes a long answer on as it comes, no faster than the client takes it. */
  async #stream(
    { status, fields }: Answer,
    first: Buffer[],
    upstream: Dispatcher.ResponseData,
    attempt: Carried,
  ): Promise<void> {
    const { request, response, stallMs } = this.#parts
    this.begun = true
    attempt.answering()
    const later = this.#parts.quantities.map(({ header }) => header).join(', ')
    response.writeHead(status, { ...fields, ...attempt.account(), ...(later && { trailer: later }) })
    const stalled = { ms: stallMs, giveUp: () => breakOff(response) }
    for await (const chunk of chain(first, () => upstream.body)) {
      if (!attempt.isCurrent()) return
      if (request.method === 'HEAD') continue
      if (!response.write(chunk)) await drained(response, stalled)
    }
  }

  #bodyOf(head: Buffer): Buffer | Readable {
    const { body, sendBody } = this.#parts
    return sendBody && body.bytes > 0 ? Readable.from(chain([head], () => body.open())) : head
  }
}

/** `rest` is opened only when it is its turn: a file that nobody comes to read would stay open. */
async function* chain(first: Iterable<Buffer>, rest: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest()
}
