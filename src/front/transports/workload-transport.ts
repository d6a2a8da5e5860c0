/** Requests for workloads: parameters and a kept body go to the worker, and its answer comes with the head that it has. */

import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Quantity } from '../../model/metering.ts'
import { type AttemptOutcome, attemptPath, headers } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'
import { costOf, fieldsOf } from '../answer-head.ts'
import type { Receiver, Sink } from '../recipient.ts'
import type { KeptBody } from '../request/body.ts'
import type { AttemptEnd, Carried, Transport } from './transport.ts'

/** From so much on an answer is under way for a while, in which its worker may be done with it. */
const answeringBytes = 256 * 1024

export interface WorkloadTransportParts {
  /** As the client sent them. */
  params: Record<string, unknown>
  body: KeptBody
  /** False: the body held parameters, and is not for the workload. */
  sendBody: boolean
  receiver: Receiver
  /** What answers say of their cost in headers of their own. */
  quantities: readonly Quantity[]
}

export class WorkloadTransport implements Transport {
  readonly #parts: WorkloadTransportParts
  readonly asked: Transport['asked']
  #whole: WholeAnswer | undefined
  #sink: Sink | undefined
  /** Of an answer that is passed on as it comes: what its end says of its cost. */
  #trailers: Record<string, string> = {}
  begun = false

  constructor(parts: WorkloadTransportParts) {
    this.#parts = parts
    this.asked = { params: parts.params }
  }

  async carry(attempt: Carried): Promise<AttemptEnd | undefined> {
    this.#parts.receiver.attempted()
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
    if (this.#sink) this.#sink.end(this.#trailers)
    else this.#parts.receiver.deliver(this.#whole!, account)
  }

  async #receive(response: Dispatcher.ResponseData, attempt: Carried): Promise<AttemptEnd | undefined> {
    const outcome = outcomeOf(response.headers)
    if (outcome !== 'result') {
      const { message = '', status = 500 } = (await response.body.json()) as {
        message?: string
        status?: number
      }
      return { outcome, message, status, cost: costOf(response.headers, this.#parts.quantities) }
    }
    const head = { status: response.statusCode, fields: fieldsOf(response.headers) }
    const { receiver } = this.#parts
    const first: Buffer[] = []
    let bytes = 0
    for await (const chunk of response.body.iterator({ destroyOnReturn: false })) {
      if (bytes <= answeringBytes && bytes + chunk.length > answeringBytes) attempt.answering()
      first.push(chunk)
      bytes += chunk.length
      if (bytes > receiver.wholeBytes) break
    }
    if (!attempt.isCurrent()) return undefined
    if (bytes > receiver.wholeBytes) await this.#stream(head, first, response, attempt)
    else this.#whole = wholeOf(head, Buffer.concat(first))
    const fields = { ...response.headers, ...(response.trailers as IncomingHttpHeaders) }
    const { quantities } = this.#parts
    for (const { header } of quantities) this.#trailers[header] = String(fields[header] ?? '')
    const cost = costOf(fields, quantities)
    // It broke off, and the worker knows why.
    const failed = outcomeOf(fields)
    if (failed === 'result') return { outcome: failed, cost }
    if (this.begun) throw new Error(failed)
    return { outcome: failed, message: `the answer broke off (${failed})`, status: 502, cost }
  }

  /** Passes a long answer on as it comes, no faster than the client takes it. */
  async #stream(
    head: Pick<WholeAnswer, 'status' | 'fields'>,
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

  #bodyOf(head: Buffer): Buffer | Readable {
    const { body, sendBody } = this.#parts
    return sendBody && body.bytes > 0 ? Readable.from(chain([head], () => body.open())) : head
  }
}

/** Of a long answer its worker could not tell the length. */
function wholeOf({ status, fields }: Pick<WholeAnswer, 'status' | 'fields'>, body: Buffer): WholeAnswer {
  const length = body.length > answeringBytes ? { 'content-length': `${body.length}` } : {}
  return { status, fields: { ...fields, ...length }, body }
}

function outcomeOf(fields: IncomingHttpHeaders): AttemptOutcome {
  return String(fields[headers.outcome] ?? 'refused') as AttemptOutcome
}

/** `rest` is opened only when it is its turn: a file that nobody comes to read would stay open. */
async function* chain(first: Iterable<Buffer>, rest: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest()
}
