/** The cache key of a request: requests with equal keys are owed the same answer. */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Question } from '../../estimate/estimator.ts'
import type { Body } from '../request/body.ts'

/**
 * A hash of the workload, the version of its code, the parameters and the whole body. Method and headers are not part
 * of it: workloads do not see them.
 */
export async function answerKey({ question, text, body }: KeyParts): Promise<string> {
  const hash = createHash('sha256')
  for (const part of [question.workload, question.codeHash, text]) hash.update(`${part.length} ${part} `)
  if (body && body.bytes > 0) for await (const chunk of body.open()) hash.update(chunk)
  return hash.digest('base64url')
}

export interface KeyParts {
  question: Pick<Question, 'workload' | 'codeHash'>
  /** Of the parameters: see `answerText`. */
  text: string
  /** Undefined: none, or it held parameters. */
  body: Pick<Body, 'bytes' | 'open'> | undefined
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
