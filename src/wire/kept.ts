/**
 * What fronts and the keeper say to each other over HTTP on loopback. A front asks the keeper to keep a request; the keeper
 * sends it to a front when its turn has come, and keeps the answer.
 */

/** Name and value of a header field, as it was sent. */
export type Field = readonly [name: string, value: string]

/** A request that is to be kept. It is one line of JSON, which the body of the request follows. */
export interface KeepOrder {
  workload: string
  client: string
  /** False: it must not run again once an attempt has started. */
  isRepeatable: boolean
  method: string
  /** Path and query. */
  target: string
  fields: readonly Field[]
  /** What the client was quoted, or would have been. */
  quote: unknown
  /** The client waits this long for the answer itself, in milliseconds; null: until it is there. */
  waitMs: number | null
  /** Preferences that are honoured, for the client. */
  applied?: string
  idempotency?: { key: string; fingerprint: string }
  /** Is told when the job has ended. */
  webhook?: string
}

/** Where the keeper accepts orders. Jobs are at the paths of the public port. */
export const keepPath = '/keep'
/** The paths of jobs. */
export const jobsPath = '/-/jobs'

export function pathOf(id: string): string {
  return `${jobsPath}/${id}`
}

/** The addresses of a job. */
export function linksOf(id: string): { self: string; result: string; events: string } {
  const self = pathOf(id)
  return { self, result: `${self}/result`, events: `${self}/events` }
}

/** Authorizes requests from the keeper to a front, besides which they have the fields of the client. */
export const keptTokenField = 'plimsoll-kept-token'
/** The address and the protocol of the client's connection. */
export const keptAddressField = 'plimsoll-kept-address'
export const keptProtocolField = 'plimsoll-kept-protocol'
/** The client of a request that a front passes on to the keeper, or the keeper to a front. */
export const keptClientField = 'plimsoll-kept-client'
/** What the client sent to prove that it is an operator, in a request about jobs that a front passes on to the keeper. */
export const keptOperatorField = 'plimsoll-kept-operator'
/** The id of a job that is stored, in an informational response (103) to a front whose client waits for the answer. */
export const keptJobField = 'plimsoll-kept-job'
/** In the same response, when the job is expected to have ended, in milliseconds since 1970. */
export const keptEndField = 'plimsoll-kept-end'
/** Marks an answer with which the cluster itself refuses the request, by the code of the problem. */
export const keptRefusalField = 'plimsoll-kept-refusal'

/** With the operator token, a request about jobs sees those of all clients. */
export const operatorField = 'plimsoll-operator'

/** Where the keeper listens, and what proves that a request is from a front. */
export interface KeeperPlace {
  /** On loopback. */
  port: number
  token: string
  /** For fronts of other machines: over TLS with the token of fronts. Undefined: none may join. */
  joinPort?: number
}

/** How a front reaches the keeper. */
export interface KeeperAddress {
  port: number
  token: string
  /** On another machine: over TLS, with this token of fronts. Default: plain, on this one. */
  far?: { host: string; token: string }
}
