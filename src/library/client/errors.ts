/** Errors of requests, by what the caller does next. */

import { PlimsollError } from '../../lib/errors.ts'

/** A problem document (RFC 9457) with the facts of the response. */
export interface Problem {
  status: number
  /** The code of `docs/reference/http.md`, for example `queue-full`. */
  code: string
  detail: string
  /** Undefined: the request never became a job. */
  job: string | undefined
  /** Undefined: the response does not say when to retry. */
  retryAfterMs: number | undefined
  /** Further fields of the document, for example `errors` of `bad-parameters`. */
  fields: Readonly<Record<string, unknown>>
}

/** The cluster answered a request with a problem. The message is its detail, `code` its stable code. */
export class RequestError extends PlimsollError {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly job: string | undefined
  readonly retryAfterMs: number | undefined
  readonly fields: Readonly<Record<string, unknown>>

  constructor({ status, code, detail, job, retryAfterMs, fields }: Problem) {
    super(detail)
    this.status = status
    this.code = code
    this.detail = detail
    this.job = job
    this.retryAfterMs = retryAfterMs
    this.fields = fields
  }
}

/** The request is wrong (400 to 499), or the workload refused it. The same request will fail again. */
export class InvalidRequestError extends RequestError {}

/** The cluster cannot take the request now (429, 503). Retry after `retryAfterMs`. */
export class OverloadedError extends RequestError {}

/** The deadline has passed or cannot be met (504). */
export class DeadlineError extends RequestError {}

/** The request costs more than its `maxCost` (422, 504). */
export class CostError extends RequestError {}

/** The job failed (500, 502). */
export class JobFailedError extends RequestError {}

/** A job that must not be repeated was lost after it started (502): it may or may not have had its effect. */
export class OutcomeUnknownError extends JobFailedError {}

export function errorOf(problem: Problem): RequestError {
  const { status, code } = problem
  if (code === 'too-costly' || code === 'cost-limit') return new CostError(problem)
  if (code === 'outcome-unknown') return new OutcomeUnknownError(problem)
  if (status === 429 || status === 503) return new OverloadedError(problem)
  if (status === 504) return new DeadlineError(problem)
  if (status < 500) return new InvalidRequestError(problem)
  return new JobFailedError(problem)
}
