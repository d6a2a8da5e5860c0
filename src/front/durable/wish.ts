/** What a client wishes for a request that is to be kept: RFC 7240 preferences, and the Idempotency-Key draft. */

import type { IncomingMessage } from 'node:http'
import { RequestProblem } from '../problem.ts'

export interface Wish {
  /** The client waits this long for the answer itself; null: until it is there. */
  waitMs: number | null
  /** The value of `Preference-Applied`. Undefined: the client has expressed no preference. */
  applied?: string
  idempotencyKey?: string
  webhook?: string
}

/** The draft leaves the limit to servers. */
const longestKey = 255
/** Longer preferences wait this long. */
const longestWaitS = 24 * 3600

/** Undefined: nothing is to be kept. Throws a 400 that names the field. */
export function wishOf({ headers }: Pick<IncomingMessage, 'headers'>): Wish | undefined {
  const key = idempotencyKey(headers['idempotency-key'])
  const { respondAsync, waitS } = preferences(headers.prefer)
  const webhook = headers['plimsoll-webhook']
  if (key === undefined && webhook === undefined && !respondAsync && waitS === undefined) return undefined
  // Who is told of the end does not wait for it.
  const isAsync = respondAsync || webhook !== undefined
  const applied = [
    ...(respondAsync ? ['respond-async'] : []),
    ...(waitS === undefined ? [] : [`wait=${waitS}`]),
  ]
  return {
    waitMs: waitS === undefined ? (isAsync ? 0 : null) : Math.min(waitS, longestWaitS) * 1000,
    ...(applied.length > 0 && { applied: applied.join(', ') }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(webhook !== undefined && { webhook: String(webhook) }),
  }
}

/** A string of structured fields, or its characters without quotes, which many clients send. */
function idempotencyKey(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined
  const text = String(value).trim()
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1')
  const key = quoted ?? (text.includes('"') ? '' : text)
  if (/^[\x20-\x7e]+$/.test(key) && key.trim() !== '' && key.length <= longestKey) return key
  throw new RequestProblem(
    400,
    'bad-idempotency-key',
    `Idempotency-Key = ${text.slice(0, 100)}: must be 1 to ${longestKey} visible ASCII characters, for example a UUID in quotes.`,
  )
}

/** Unknown and malformed preferences are ignored, as RFC 7240 says; of repeated ones the first counts. */
function preferences(value: string | string[] | undefined): { respondAsync: boolean; waitS?: number } {
  let respondAsync = false
  let waitS: number | undefined
  for (const each of String(value ?? '').split(',')) {
    const [, name = '', , token = ''] = /^\s*([^\s=;]+)\s*(=\s*"?([^";\s]*)"?)?/.exec(each) ?? []
    if (name.toLowerCase() === 'respond-async') respondAsync = true
    else if (name.toLowerCase() === 'wait' && /^\d{1,9}$/.test(token)) waitS ??= Number(token)
  }
  return { respondAsync, ...(waitS !== undefined && { waitS }) }
}

/** What is expected of a request, as its quote says. */
interface QuotedTimes {
  seconds?: { expected: number }
  waitSeconds?: number | null
}

/** The wish that a request which is expected to take long gets without its client's asking; undefined: none. */
export function wishByQuote(quote: unknown, asyncAboveMs: number): Wish | undefined {
  const { seconds, waitSeconds } = (quote ?? {}) as QuotedTimes
  const expectedMs = ((seconds?.expected ?? 0) + (waitSeconds ?? 0)) * 1000
  return expectedMs > asyncAboveMs ? { waitMs: 0 } : undefined
}
