/** What the keeper answers to fronts: documents in JSON, and problems. */

import { type ServerResponse, STATUS_CODES } from 'node:http'
import { StoreError, stackOf } from '../lib/errors.ts'

/** A refusal, as a problem document (RFC 9457). */
export class KeeperProblem extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Readonly<Record<string, string>>
  /** Further members of the document. */
  readonly facts: object
  constructor(
    status: number,
    code: string,
    message: string,
    fields: Record<string, string> = {},
    facts: object = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
    this.facts = facts
  }
}

export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  fields: Record<string, string> = {},
): void {
  const text = `${JSON.stringify(value)}\n`
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...fields })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

export function problemOf(error: Error, log: (line: string) => void): KeeperProblem {
  if (error instanceof KeeperProblem) return error
  // Messages of the store say where it is, which is for the operator only.
  if (error instanceof StoreError && error.code === 'STORE_QUERY')
    return new KeeperProblem(400, 'bad-request', 'cursor: must be the cursor of the page before.')
  if (error instanceof StoreError)
    return new KeeperProblem(
      503,
      'store-fails',
      'The store of jobs fails at the moment. Try again; with an Idempotency-Key it cannot run twice.',
    )
  log(`keeper: internal error: ${stackOf(error)}`)
  return new KeeperProblem(500, 'internal', 'An internal error occurred and has been logged.')
}

/** `retryAfterMs`: when the request may succeed; undefined: it never will. */
export function refuse(
  response: ServerResponse,
  { status, code, message, fields, facts }: KeeperProblem,
  retryAfterMs?: number,
): void {
  if (response.headersSent) return void response.destroy()
  const problem = {
    ...{ type: `urn:plimsoll:${code}`, title: STATUS_CODES[status], status, detail: message },
    ...facts,
  }
  const text = `${JSON.stringify(problem)}\n`
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    ...fields,
    ...(retryAfterMs !== undefined && { 'retry-after': `${Math.max(1, Math.ceil(retryAfterMs / 1000))}` }),
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
