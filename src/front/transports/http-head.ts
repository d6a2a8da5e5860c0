/** Parses the head of a program's answer as the worker sends it. */

import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http'
import { ProtocolError } from '../../lib/errors.ts'
import { type HttpHead, headers } from '../../wire/messages.ts'
import { pairsOf } from '../../wire/raw-headers.ts'

const longestHead = 1024 * 1024

/** The head and the body after it. Rejects with a `ProtocolError` if the head is malformed. */
export async function headFrom(
  response: IncomingMessage,
): Promise<{ head: HttpHead; body: AsyncIterable<Buffer> }> {
  const bytes = Number(response.headers[headers.headBytes])
  if (!(Number.isInteger(bytes) && bytes > 0 && bytes <= longestHead)) {
    throw new ProtocolError(`${headers.headBytes}: must be a whole number from 1 to ${longestHead}`)
  }
  const chunks: AsyncIterator<Buffer> = response[Symbol.asyncIterator]()
  let have: Buffer = Buffer.alloc(0)
  while (have.length < bytes) {
    const { value, done } = await chunks.next()
    if (done) throw new ProtocolError('the answer ended within its head')
    have = Buffer.concat([have, value])
  }
  const rest = have.subarray(bytes)
  async function* body(): AsyncGenerator<Buffer> {
    if (rest.length > 0) yield rest
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { head: parseHead(have.subarray(0, bytes)), body: body() }
}

/** Throws a `ProtocolError` if the head cannot be passed on. `switching`: the status that it must have. */
export function parseHead(json: Buffer, switching?: 101): HttpHead {
  const { status, message, headers: raw } = JSON.parse(json.toString('utf8')) as HttpHead
  const isStatus = switching
    ? status === switching
    : Number.isInteger(status) && status >= 200 && status <= 999
  if (!isStatus || !isLine(message) || !isRaw(raw)) {
    throw new ProtocolError(`an answer of status ${status} cannot be passed on`)
  }
  return { status, message, headers: raw }
}

/** Names and values in turn, from JSON in a header; none if the header is missing. */
export function parseRaw(json: string | string[] | undefined): string[] {
  const raw: unknown = json === undefined ? [] : JSON.parse(String(json))
  if (!isRaw(raw)) throw new ProtocolError(`${headers.trailers}: must be names and values in turn`)
  return raw
}

function isLine(text: unknown): boolean {
  return typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

function isRaw(raw: unknown): raw is string[] {
  if (!Array.isArray(raw) || raw.length % 2 !== 0 || !raw.every((each) => typeof each === 'string'))
    return false
  try {
    for (const [name, value] of pairsOf(raw)) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    return true
  } catch {
    return false
  }
}
