/** Reads responses: job facts, results by content type, and problems. */

import { errorOf, type RequestError } from './errors.ts'

/** What the cluster says about the job that answered a request. */
export interface JobFacts {
  /** Id of the job, for `plimsoll why`. Undefined: the answer came from the cache. */
  job: string | undefined
  /** Work of the job, if it was known when the response started. */
  work: number | undefined
  worker: string | undefined
  attempts: number | undefined
  /** `hit`: from the cache. `shared`: computed for another request. Undefined: computed for this one. */
  cache: string | undefined
}

/** A response. */
export interface Answer<R> extends JobFacts {
  /** JSON is parsed, text is a string, no content is undefined, anything else is bytes. */
  result: R
  status: number
  contentType: string
  /** Names are in lower case. */
  headers: Readonly<Record<string, string>>
}

/** A response whose body has not been read. */
export interface StreamedAnswer extends Omit<Answer<never>, 'result'> {
  /** The body as it arrives. Must be read or cancelled. */
  body: AsyncIterable<Uint8Array>
}

export type Headers = Readonly<Record<string, string>>

export function factsOf(headers: Headers): JobFacts {
  const number = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]))
  return {
    job: headers['plimsoll-job'],
    work: number('plimsoll-work'),
    worker: headers['plimsoll-worker'],
    attempts: number('plimsoll-attempts'),
    cache: headers['plimsoll-cache'],
  }
}

export function decoded(status: number, contentType: string, bytes: Uint8Array): unknown {
  if (status === 204 || (bytes.length === 0 && contentType === '')) return undefined
  if (/^application\/([\w.-]+\+)?json\b/i.test(contentType)) return JSON.parse(textOf(bytes)) as unknown
  return /^(text\/|application\/([\w.-]+\+)?xml\b|image\/svg)/i.test(contentType) ? textOf(bytes) : bytes
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

const kind = 'urn:plimsoll:'

/** Undefined: not a problem document of the cluster, but an answer of the workload. */
export function problemOf(status: number, headers: Headers, bytes: Uint8Array): RequestError | undefined {
  if (!/^application\/problem\+json/i.test(headers['content-type'] ?? '')) return undefined
  const document = objectIn(textOf(bytes))
  const { type, title: _, status: __, detail, ...fields } = document
  if (typeof type !== 'string' || !type.startsWith(kind)) return undefined
  const retryAfterS = Number(headers['retry-after'])
  return errorOf({
    status,
    code: type.slice(kind.length),
    detail: typeof detail === 'string' ? detail : `The cluster answered ${status}.`,
    job: headers['plimsoll-job'],
    retryAfterMs: retryMs(fields.retryAfterMs) ?? retryMs(retryAfterS * 1000),
    fields,
  })
}

function retryMs(ms: unknown): number | undefined {
  return typeof ms === 'number' && ms >= 0 && ms < Infinity ? ms : undefined
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
