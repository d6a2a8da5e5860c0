/** Errors for clients: application/problem+json, RFC 9457. */

import { STATUS_CODES } from 'node:http'
import { PlimsollError } from '../lib/errors.ts'
import type { Reason } from '../model/reason.ts'
import { explain } from '../story/reasons.ts'
import type { FailedAttempt } from '../wire/messages.ts'
import type { ClientResponse } from './response.ts'
import { resetConnection } from './tls/below.ts'

/** A request that cannot be served. */
export class RequestProblem extends PlimsollError {
  readonly code: string
  readonly status: number
  /** Further fields of the document, and headers of the answer. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  constructor(
    status: number,
    code: string,
    message: string,
    {
      fields = {},
      headers = {},
    }: { fields?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
    this.headers = headers
  }
}

/** Throws a 405 if the method is none of these. */
export function allow(method: string | undefined, methods: readonly string[]): void {
  if (method !== undefined && methods.includes(method)) return
  const listed = methods.join(', ')
  throw new RequestProblem(405, 'wrong-method', `${method} is not allowed here; allowed: ${listed}.`, {
    headers: { allow: listed },
  })
}

export function problemDocument({ status, code, message, fields }: RequestProblem): string {
  return `${JSON.stringify({ type: `urn:plimsoll:${code}`, title: STATUS_CODES[status], status, detail: message, ...fields })}\n`
}

/** After a refusal the rest of a request is read for this long: a reset could overtake the refusal. */
export const lingerMs = 1_000

/** Answers with the problem, or breaks the answer off if it has begun. */
export function sendProblem(
  response: ClientResponse,
  problem: RequestProblem,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return breakOff(response)
  const body = problemDocument(problem)
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    ...headers,
    ...problem.headers,
  })
  const text = response.req.method === 'HEAD' ? '' : body
  // A stream can be ended early without an effect on its connection.
  if (problem.headers.connection === 'close' && !response.req.complete && response.socket)
    endEarly(response, text)
  else response.end(text)
}

/** Ends a response before its request has arrived completely, without closing the socket too early. */
function endEarly(response: ClientResponse, body: string): void {
  const { req } = response
  response.flushHeaders()
  if (body !== '') response.write(body)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  req.once('end', end).once('close', end).resume()
}

/** Resets the connection, or the stream, of an incomplete answer: some clients would take a plain close for its end. */
export function breakOff(response: ClientResponse): void {
  if (response.socket && !response.socket.destroyed) resetConnection(response.socket)
  else response.destroy()
}

const statusOf: Readonly<Record<string, number>> = {
  'queue-full': 503,
  dropped: 503,
  'rate-limit': 429,
  deadline: 504,
  'no-time': 504,
  'no-time-for-all': 504,
  'outcome-unknown': 502,
  poison: 502,
  attempts: 502,
  'no-progress': 502,
  retries: 503,
  waited: 503,
  unready: 503,
}

/** Refusals whose numbers are part of the document. */
const withNumbers: ReadonlySet<string> = new Set(['rate-limit', 'no-time', 'no-time-for-all'])

/** Refusals after failed attempts, whose failures the operator can look up. */
const afterAttempts: ReadonlySet<string> = new Set([
  ...['poison', 'attempts', 'retries', 'unready', 'outcome-unknown', 'no-progress'],
])

/** Why an attempt has no result. With a status from 400 to 499 the message is for the client. */
export type Failure = FailedAttempt & { status: number }

/** Failures whose message is for the client. */
const limits: ReadonlySet<string> = new Set(['limit', 'cost-limit'])

/** The code of a failed job's answer, by that of the brain's reason. */
export function failureCode(reason: string): string {
  return limits.has(reason) ? reason : 'workload-error'
}

/** A failed job, for the client: without the message of its error, unless that is meant for the client. */
export function failureProblem(code: string, failure: Failure, job: string, expose: boolean): RequestProblem {
  const { message, status, stack } = failure
  if (status < 500 || limits.has(code)) return new RequestProblem(status, code, message)
  if (!expose)
    return new RequestProblem(status, code, `The workload failed. ${lookUp(job)}`, { fields: { job } })
  return new RequestProblem(status, code, message, { fields: { job, ...(stack !== undefined && { stack }) } })
}

function lookUp(job: string): string {
  return `The operator can see why with: plimsoll why ${job}`
}

/** Clients are told to come back within the hour: until then everything may have changed. */
const longestRetryS = 3600

/** The header that tells a client when to come back: whole seconds, at least 1. Time that is unknown counts as long. */
export function retryAfter(ms: number): { 'retry-after': string } {
  const seconds = Math.ceil(ms / 1000)
  return { 'retry-after': `${Math.min(longestRetryS, Math.max(1, seconds))}` }
}

/** The client is not told why: the job's story, the log, `status` and the metrics are for the operator. */
export function overloaded(retryAfterMs: number, closes = false): RequestProblem {
  return new RequestProblem(503, 'overloaded', 'The cluster is overloaded; try again later.', {
    headers: { ...retryAfter(retryAfterMs), ...(closes && { connection: 'close' }) },
  })
}

/** A refusal by the brain, for the client. `lastFailure` is quoted; without it the client learns where to find it. */
export function refusal(reason: Reason, job?: string, lastFailure?: Failure): RequestProblem {
  const { retryAfterMs } = reason
  if (reason.code === 'overloaded') return overloaded(Number(retryAfterMs))
  const status = statusOf[reason.code] ?? 503
  const { code, ...facts } = reason
  const isFailure = job !== undefined && afterAttempts.has(code)
  const last = lastFailure ? ` Last failure: ${lastFailure.message}.` : job && ` ${lookUp(job)}`
  return new RequestProblem(status, code, sentence(explain(reason)) + (isFailure ? last : ''), {
    fields: { ...(withNumbers.has(code) && facts), ...(isFailure && { job }) },
    ...(retryAfterMs !== undefined && { headers: retryAfter(Number(retryAfterMs)) }),
  })
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}
