/** Requests to workloads: parameters and the body go to the worker; the workload's answer comes back. */

import { Readable } from 'node:stream'
import type { Quantity } from '../../model/metering.ts'
import { type FailedAttempt, headers } from '../../wire/messages.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'
import type { AnswerHead, Receiver, Sink } from '../receiver.ts'
import type { Body } from '../request/body.ts'
import type { ParamsText } from '../request/params.ts'
import { brokenOff, costOf, fieldsOf, outcomeOf } from './answer-head.ts'
import { type AttemptOrder, aroundRequest } from './attempt-json.ts'
import { type AttemptContent, dispatchAttempt } from './dispatch.ts'
import type { AttemptEnd, Carried, Transport } from './transport.ts'
import { bodyOf, type WorkerResponse } from './worker-response.ts'

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
    const call = dispatchAttempt(attempt, this.#content(attempt.order))
    try {
      const response = await call.response
      return attempt.isCurrent() ? await this.#receive(response, attempt) : undefined
    } finally {
      call.done()
    }
  }

  deliver(account: Record<string, string>): void {
    if (this.#sink) this.#sink.end(this.#trailers)
    else this.#parts.receiver.deliver(this.#whole!, account)
  }

  async #receive(response: WorkerResponse, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = outcomeOf(response.headers)
    const { quantities } = this.#parts
    if (outcome !== 'result') {
      const {
        message = '',
        status = 500,
        stack,
      }: Partial<FailedAttempt> = JSON.parse(`${await bodyOf(response)}`)
      return { outcome, message, status, stack, cost: costOf(response.headers, quantities) }
    }
    const head = { status: response.status, fields: fieldsOf(response.headers) }
    const whole = await this.#take(head, response, attempt)
    if (!attempt.isCurrent()) return undefined
    const fields = { ...response.headers, ...response.trailers }
    for (const { header } of quantities) this.#trailers[header] = String(fields[header] ?? '')
    if (whole) this.#whole = wholeOf(head, this.#trailers, whole)
    const cost = costOf(fields, quantities)
    const end = outcomeOf(fields)
    return end === 'result' ? { outcome: end, cost } : brokenOff(end, cost, fields)
  }

  /**
   * Holds a short answer until it is complete, so that another attempt can replace it if its worker fails. Streams others,
   * no faster than the client reads. Resolves to the answer if it is held.
   */
  #take(head: AnswerHead, response: WorkerResponse, attempt: Carried): Promise<Buffer | undefined> {
    const { receiver } = this.#parts
    const held: Buffer[] = []
    let bytes = 0
    return new Promise((resolve, reject) => {
      const pass = (chunk: Buffer) => {
        const wait = this.#sink!.write(chunk)
        if (!wait) return
        response.pause()
        wait.then(() => response.resume()).catch(reject)
      }
      if (response.headers[headers.streamed] !== undefined && receiver.takesStreams) {
        attempt.answering()
        this.#begin(head, attempt)
      }
      response.read({
        data: (chunk) => {
          if (!attempt.isCurrent()) return resolve(undefined)
          if (this.#sink) return pass(chunk)
          if (bytes <= answeringBytes && bytes + chunk.length > answeringBytes) attempt.answering()
          held.push(chunk)
          bytes += chunk.length
          if (receiver.mayHold(bytes)) return
          this.#begin(head, attempt)
          pass(Buffer.concat(held))
        },
        end: () => resolve(this.#sink ? undefined : held.length === 1 ? held[0] : Buffer.concat(held)),
        failed: reject,
      })
    })
  }

  #begin(head: AnswerHead, attempt: Carried): void {
    this.begun = true
    const later = this.#parts.quantities.map(({ header }) => header).join(', ')
    this.#sink = this.#parts.receiver.begin(head, {
      ...attempt.account(),
      ...(later && { trailer: later }),
    })
  }

  /** The head of the attempt with the text of the parameters, then the body. */
  #content(order: AttemptOrder): AttemptContent {
    const { params, body } = this.#parts
    const { source, bodyFrom } = params
    const { start, end } = aroundRequest(order)
    const first = Buffer.concat([start, Buffer.from('"params":'), params.start])
    const textBytes = bodyFrom === undefined ? 0 : source.bytes - bodyFrom
    const headBytes = first.length + textBytes + end.length
    if (textBytes === 0 && !body) return { headBytes, content: Buffer.concat([first, end]) }
    const parts = async function* (): AsyncGenerator<Buffer> {
      yield first
      if (bodyFrom !== undefined) yield* without(source.open(), bodyFrom)
      yield end
      if (body) yield* body.open()
    }
    return { headBytes, content: Readable.from(parts()) }
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
