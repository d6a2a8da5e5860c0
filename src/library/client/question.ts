/** Writes requests: parameters as JSON, or in the query beside a binary body. */

import { invalid } from '../../lib/checks.ts'
import { maxCostRule, readMaxCost } from '../../model/max-cost.ts'

/** Options of one request. */
export interface RequestOptions {
  /** Binary data for the workload. Parameters then travel in the query, so each must be a string, number or boolean. */
  body?: Uint8Array | string
  /** Milliseconds after which the answer is of no use. Default: the client's, or the workload's. */
  deadlineMs?: number
  /** The most that the request may cost: CPU time such as `90s` or `500ms`, or a price such as `price=0.02`. Default: anything. */
  maxCost?: string
  /** Cancels the request. The promise rejects with the signal's reason. */
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
}

/** A request, ready to be sent. */
export interface Question {
  /** Default: POST. */
  method?: 'GET' | 'DELETE'
  path: string
  headers: Record<string, string>
  body?: Uint8Array | string
}

export function questionOf(path: string, params: object | undefined, options: RequestOptions): Question {
  const { body, deadlineMs, maxCost, headers } = options
  const common = {
    ...headers,
    ...(deadlineMs !== undefined && { 'plimsoll-deadline': checkDeadline(deadlineMs) }),
    ...(maxCost !== undefined && { 'plimsoll-max-cost': checkMaxCost(maxCost) }),
  }
  if (body === undefined) {
    return {
      path,
      body: JSON.stringify(params ?? {}),
      headers: { ...common, 'content-type': 'application/json' },
    }
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw invalid('body', body, 'a Uint8Array or a string')
  const query = queryOf(params ?? {})
  return {
    path: query === '' ? path : `${path}?${query}`,
    body,
    headers: { 'content-type': 'application/octet-stream', ...common },
  }
}

function queryOf(params: object): string {
  const pairs = Object.entries(params).filter(([, value]) => value !== undefined)
  for (const [name, value] of pairs) {
    if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value))
      throw invalid(`params.${name}`, value, 'a string, number or boolean beside a body')
  }
  return new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()
}

function checkDeadline(ms: number): string {
  if (typeof ms === 'number' && ms > 0 && ms < Infinity) return `${ms}`
  throw invalid('deadlineMs', ms, 'a number of milliseconds, more than 0')
}

function checkMaxCost(cost: string): string {
  const read = typeof cost === 'string' ? readMaxCost(cost) : undefined
  if (read) return read.text
  throw invalid('maxCost', cost, maxCostRule.replace(/^must be /, ''))
}
