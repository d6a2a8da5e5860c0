/** The cache key of a request: requests with equal keys are owed the same answer. */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { canonical } from '../../estimate/canonical.ts'
import type { Question } from '../../estimate/estimator.ts'
import type { Body } from '../request/body.ts'
import { deepest } from '../request/params.ts'

/**
 * A hash of the workload, the version of its code, the parameters and the whole body. Method and headers are not part
 * of it: workloads do not see them.
 */
export async function answerKey({ question, params, checked, body }: KeyParts): Promise<string> {
  const given = isPlain(checked) ? canonical(checked) : `as sent ${canonical(params)}`
  const hash = createHash('sha256')
  for (const part of [question.workload, question.codeHash, given]) hash.update(`${part.length} ${part} `)
  if (body && body.bytes > 0) for await (const chunk of body.open()) hash.update(chunk)
  return hash.digest('base64url')
}

export interface KeyParts {
  question: Pick<Question, 'workload' | 'codeHash'>
  /** As the client sent them. */
  params: Record<string, unknown>
  /** As the workload's schema returned them. */
  checked: unknown
  /** Undefined: none, or it held parameters. */
  body: Pick<Body, 'bytes' | 'open'> | undefined
}

/** Objects that a schema creates may differ although their JSON is equal; then the parameters as sent are used. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return !['symbol', 'function'].includes(typeof value)
  if ('toJSON' in value || depth > deepest) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false
  return Object.values(value).every((part) => isPlain(part, depth + 1))
}

/** What a client's `cache-control` allows. */
export interface CacheControl {
  /** True: a new answer, which may be cached for others. */
  fresh: boolean
  /** True: a new answer, which nobody else may receive. */
  alone: boolean
}

export function cacheControlOf({ headers }: Pick<IncomingMessage, 'headers'>): CacheControl {
  const directives = (headers['cache-control'] ?? '').toLowerCase().split(',')
  const has = (...names: string[]) => directives.some((directive) => names.includes(directive.trim()))
  return { fresh: has('no-cache', 'max-age=0'), alone: has('no-store') }
}
