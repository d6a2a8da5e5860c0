/** Requests to workloads: parameters and the body go to the worker; the workload's answer comes back. */

import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Quantity } from '../../model/metering.ts'
import { attemptPath, type FailedAttempt, headers } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'
import type { AnswerHead, Receiver, Sink } from '../receiver.ts'
import type { Body } from '../request/body.ts'
import type { ParamsText } from '../request/params.ts'
import { brokenOff, costOf, fieldsOf, outcomeOf } from './answer-head.ts'
import { type AttemptOrder, aroundRequest } from './attempt-json.ts'
import type { AttemptEnd, Carried, Transport } from './transport.ts'

/** The brain is told when an answer grows beyond this: its worker may finish long before the client has it. */
const answeringBytes = 256 * 1024

export interface WorkloadTransportParts {
  /** As the client sent them. `source`: the body that holds the end of their text. */
  params: ParamsText & { source: Body }
  /** Undefined: none, or it held parameters. */
  body: Body | undefined
  receiver: Receiver
  /** Quantities that answers report in headers. */
  quantities: readonly Quantity[]
}

export class WorkloadTransport implements Transport {
  readonly #parts: WorkloadTransportParts
  #whole: WholeAnswer | undefined
  #sink: Sink | undefined
  /** Quantities: in the head of a whole answer, at the end of a streamed one. */
  #trailers: Record<string, string> = {}
  begun = false

  constructor(parts: WorkloadTransportParts) {
    this.#parts = parts
  }

  async carry(attempt: Carried): Promise<AttemptEnd | undefined> {
    this.#parts.receiver.attempted()
    const { headBytes, body } = this.#content(attempt.order)
    const response = await attempt.upstream.dispatcher.request({
      method: 'POST',
      path: attemptPath,
      headers: {
        authorization: bearer(attempt.token),
        'content-type': 'application/octet-stream',
        [headers.headBytes]: `${headBytes}`,
      },
      body,
      signal: attempt.signal,
    })
    if (attempt.isCurrent()) return this.#receive(response, attempt)
    response.body.destroy()
    return undefined
  }

  deliver(account: Record<string, string>): void {
    if (this.#sink) this.#sink.end(this.#trailers)
    else this.#parts.receiver.deliver(this.#whole!, account)
  }

  async #receive(response: Dispatcher.ResponseData, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = outcomeOf(response.headers)
    if (outcome !== 'result') {
      const { message = '', status = 500, stack } = (await response.body.json()) as Partial<FailedAttempt>
      return { outcome, message, status, stack, cost: costOf(response.headers, this.#parts.quantities) }
    }
    const head = { status: response.statusCode, fields: fieldsOf(response.headers) }
    const { chunks, isWhole } = await this.#hold(response, attempt)
    if (!attempt.isCurrent()) return undefined
    if (!isWhole) await this.#stream(head, chunks, response, attempt)
    const fields = { ...response.headers, ...(response.trailers as IncomingHttpHeaders) }
    const { quantities } = this.#parts
    for (const { header } of quantities) this.#trailers[header] = String(fields[header] ?? '')
    if (isWhole) this.#whole = wholeOf(head, this.#trailers, Buffer.concat(chunks))
    const cost = costOf(fields, quantities)
    const end = outcomeOf(fields)
    return end === 'result' ? { outcome: end, cost } : brokenOff(end, cost, fields)
  }

  /** Holds an answer until it is complete, so that another attempt can replace it if its worker fails. */
  async #hold(response: Dispatcher.ResponseData, attempt: Carried) {
    const { receiver } = this.#parts
    const chunks: Buffer[] = []
    if (response.headers[headers.streamed] !== undefined && receiver.takesStreams) {
      attempt.answering()
      return { chunks, isWhole: false }
    }
    let bytes = 0
    for await (const chunk of response.body.iterator({ destroyOnReturn: false })) {
      if (bytes <= answeringBytes && bytes + chunk.length > answeringBytes) attempt.answering()
      chunks.push(chunk)
      bytes += chunk.length
      if (!receiver.mayHold(bytes)) return { chunks, isWhole: false }
    }
    return { chunks, isWhole: true }
  }

  /** Streams an answer, no faster than the client reads it. */
  async #stream(
    head: AnswerHead,
    first: Buffer[],
    upstream: Dispatcher.ResponseData,
    attempt: Carried,
  ): Promise<void> {
    this.begun = true
    const later = this.#parts.quantities.map(({ header }) => header).join(', ')
    const sink = this.#parts.receiver.begin(head, { ...attempt.account(), ...(later && { trailer: later }) })
    this.#sink = sink
    for await (const chunk of chain(first, () => upstream.body)) {
      if (!attempt.isCurrent()) return
      await sink.write(chunk)
    }
  }

  /** The head of the attempt with the text of the parameters, then the body. */
  #content(order: AttemptOrder): { headBytes: number; body: Buffer | Readable } {
    const { params, body } = this.#parts
    const { source, bodyFrom } = params
    const { start, end } = aroundRequest(order)
    const first = Buffer.concat([start, Buffer.from('"params":'), params.start])
    const textBytes = bodyFrom === undefined ? 0 : source.bytes - bodyFrom
    const headBytes = first.length + textBytes + end.length
    if (textBytes === 0 && !body) return { headBytes, body: Buffer.concat([first, end]) }
    const parts = async function* (): AsyncGenerator<Buffer> {
      yield first
      if (bodyFrom !== undefined) yield* without(source.open(), bodyFrom)
      yield end
      if (body) yield* body.open()
    }
    return { headBytes, body: Readable.from(parts()) }
  }
}

/** Workers announce the length only of short answers that are not streamed. */
function wholeOf({ status, fields }: AnswerHead, more: Record<string, string>, body: Buffer): WholeAnswer {
  const length = status === 204 || status === 304 ? {} : { 'content-length': `${body.length}` }
  return { status, fields: { ...fields, ...more, ...length }, body }
}

/** All chunks but their first bytes. */
async function* without(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/** Opens `rest` only after `first` is read: a file that nobody reads would stay open. */
async function* chain(first: Iterable<Buffer>, rest: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest()
}
