/**
 * A port of this machine behind which a Lambda function runs one attempt at a time. Fronts send attempts there as they
 * do to a worker, so that they need neither the SDK nor credentials.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type OwnedUpstream, upstreamAt } from '../front/transports/upstream.ts'
import type { AttemptHead, AttemptOutcome } from '../wire/messages.ts'
import { attemptPath, headers as names } from '../wire/messages.ts'
import { authorizer } from '../wire/token.ts'
import { type InvocationAnswer, maxPayloadBytes, payloadOf } from './invocation.ts'
import type { Trouble } from './outcome.ts'
import type { Invoked } from './service.ts'

/** Runs attempts of one workload. */
export interface SeatUse {
  /** The Lambda function. */
  name: string
  /** The hash of the workload's code. */
  code: string
  limitMs(head: AttemptHead): number
  invoke(payload: Buffer, limitMs: number, signal: AbortSignal): Promise<Invoked>
  /** Called if the attempt breaks: all that fronts see is a connection that closes. */
  broke(why: string): void
  signal: AbortSignal
}

const statuses: Partial<Record<AttemptOutcome, number>> = { throttled: 429, refused: 503, timeout: 504 }

/** Bodies grow by a third in base64. */
const maxBodyBytes = (maxPayloadBytes * 3) / 4

export class Seat {
  readonly upstream: Promise<OwnedUpstream>
  readonly #server: Server
  readonly #isAuthorized: (header: string | undefined) => boolean
  #use: SeatUse | undefined
  workload: string | undefined

  constructor(id: string, token: string) {
    this.#isAuthorized = authorizer(token)
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#server.requestTimeout = 0
    this.upstream = new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    }).then(() => {
      const { port } = this.#server.address() as AddressInfo
      return upstreamAt(id, { host: '127.0.0.1', port }, token)
    })
    // Nobody may await it.
    this.upstream.catch(() => {})
  }

  take(workload: string, use: SeatUse): void {
    this.workload = workload
    this.#use = use
  }

  release(): void {
    this.workload = undefined
    this.#use = undefined
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await this.upstream.then(
      (upstream) => upstream.close(),
      () => {},
    )
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const use = this.#use
    if (!this.#isAuthorized(request.headers.authorization)) return void response.writeHead(401).end()
    if (request.method !== 'POST' || request.url !== attemptPath) return void response.writeHead(404).end()
    if (!use) return sendTrouble(response, { kind: 'refused', message: 'no attempt was announced' })
    const left = new AbortController()
    response.once('close', () => left.abort())
    const payload = await payloadFrom(request, use)
    if (!payload) {
      // The rest of the body is read, because the connection serves the next attempt.
      request.resume()
      return sendTrouble(response, { kind: 'limit', message: tooLong })
    }
    const invoked = await use.invoke(
      payload.bytes,
      payload.limitMs,
      AbortSignal.any([use.signal, left.signal]),
    )
    if ('kind' in invoked && invoked.kind !== 'broken') return sendTrouble(response, invoked)
    const answer = 'kind' in invoked ? undefined : answerFrom(invoked.payload)
    if (!answer) {
      use.broke('kind' in invoked ? invoked.message : `${use.name}: does not answer as plimsoll/lambda does`)
      return void response.destroy()
    }
    const body = Buffer.from(answer.body, 'base64')
    response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length }).end(body)
  }
}

const tooLong = `the request does not fit into an invocation of ${maxPayloadBytes / 1024 ** 2} MB: workers run it`

function sendTrouble(response: ServerResponse, { kind, message }: Trouble): void {
  const body = JSON.stringify({ message, status: 500 })
  const outcome = kind as AttemptOutcome
  response.writeHead(statuses[outcome] ?? 500, {
    [names.outcome]: outcome,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Undefined: it is too long for Lambda, and parts of the request may be unread. */
async function payloadFrom(
  request: IncomingMessage,
  { code, limitMs }: SeatUse,
): Promise<{ bytes: Buffer; limitMs: number } | undefined> {
  const headBytes = Number(request.headers[names.headBytes])
  if (Number(request.headers['content-length']) > maxPayloadBytes) return undefined
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > maxPayloadBytes || bytes - headBytes > maxBodyBytes) return undefined
  }
  const all = Buffer.concat(chunks)
  const head = all.toString('utf8', 0, headBytes)
  const limit = Math.ceil(limitMs(JSON.parse(head) as AttemptHead))
  const payload = payloadOf({ head, code, limitMs: limit }, all.subarray(headBytes))
  return payload && { bytes: payload, limitMs: limit }
}

function answerFrom(payload: Uint8Array): InvocationAnswer | undefined {
  try {
    const answer = JSON.parse(Buffer.from(payload).toString()) as Partial<InvocationAnswer> | null
    const isAnswer = typeof answer?.body === 'string' && answer.headers?.[names.outcome] !== undefined
    return isAnswer ? (answer as InvocationAnswer) : undefined
  } catch {
    return undefined
  }
}
