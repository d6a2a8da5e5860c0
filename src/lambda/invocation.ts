/** What a balancer and a Lambda function exchange: an attempt and its answer, both as JSON. */

import type { AttemptHead } from '../wire/messages.ts'

/** Raised with every incompatible change. */
export const invocationVersion = 1

/** Lambda accepts no longer request or answer of a synchronous invocation. */
export const maxPayloadBytes = 6 * 1024 * 1024

/** The event: an attempt at a job. */
export interface Invocation {
  version: number
  head: AttemptHead
  /** The hash of the workload's code that the balancer expects. */
  code: string
  /** The function gives the attempt up after this time: nobody waits for it any more. */
  limitMs: number
  /** The request's body, in base64. */
  body: string
}

/** The answer as a worker sends it over HTTP: the outcome and the cost of the attempt are headers. */
export interface InvocationAnswer {
  status: number
  headers: Record<string, string | string[]>
  /** In base64. */
  body: string
}

/** The payload of an invocation. Undefined: it is longer than Lambda accepts. */
export function payloadOf(
  { head, code, limitMs }: Pick<Invocation, 'code' | 'limitMs'> & { head: string },
  body: Buffer,
): Buffer | undefined {
  const start = `{"version":${invocationVersion},"code":${JSON.stringify(code)},"limitMs":${limitMs},"head":`
  const text = `${start}${head},"body":"${body.toString('base64')}"}`
  const payload = Buffer.from(text)
  return payload.length <= maxPayloadBytes ? payload : undefined
}

/** True: the answer is longer than Lambda accepts. */
export function isTooLong({ headers, body }: InvocationAnswer): boolean {
  const aroundBody = Buffer.byteLength(JSON.stringify({ status: 200, headers, body: '' }))
  return aroundBody + body.length > maxPayloadBytes
}
