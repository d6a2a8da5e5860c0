/** CORS: pages of allowed origins may send requests to workloads and read the answers. Off by default. */

import type { IncomingMessage } from 'node:http'
import { ConfigError } from '../lib/errors.ts'

/** Answers are the same for all pages: `*`; or each allowed page is told its own origin. */
const anyOrigin = '*'
/** Browsers keep the answer to a preflight request for this long, at most. */
const preflightSeconds = 7200

export type Fields = Readonly<Record<string, string>>

/** Header fields of all answers to this request. Undefined: its page may not read them, or it is not of a page. */
export type CrossOrigin = (request: Pick<IncomingMessage, 'headers'>) => Fields | undefined

/** `allowed`: origins, or `*`. Undefined: no page may. */
export function crossOrigin(allowed: readonly string[]): CrossOrigin | undefined {
  if (allowed.length === 0) return undefined
  const all = allowed.includes(anyOrigin)
  return ({ headers }) => {
    const vary: Record<string, string> = all ? {} : { vary: 'Origin' }
    const { origin } = headers
    if (origin === undefined || !(all || allowed.includes(origin))) return vary
    return {
      ...vary,
      'access-control-allow-origin': all ? anyOrigin : origin,
      'access-control-expose-headers': '*',
    }
  }
}

/** What a browser that asks before it sends a request is told. Undefined: it does not ask. */
export function preflight({ method, headers }: IncomingMessage): Fields | undefined {
  if (method !== 'OPTIONS' || headers.origin === undefined) return undefined
  if (headers['access-control-request-method'] === undefined) return undefined
  const asked = headers['access-control-request-headers']
  return {
    'access-control-allow-methods': 'GET, HEAD, POST',
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    'access-control-max-age': `${preflightSeconds}`,
  }
}

/** `*`, or origins separated by commas. */
export function readOrigins(text: string, option: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (origin === anyOrigin || (URL.canParse(origin) && new URL(origin).origin === origin)) continue
    throw new ConfigError(
      `${option} = ${origin}: must be * or origins such as https://shop.example, separated by commas`,
    )
  }
  return origins
}
