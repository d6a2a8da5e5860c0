/** Reads what a front asks to keep: a line of JSON, then the body of the request. */

import type { IncomingMessage } from 'node:http'
import { ProtocolError } from '../lib/errors.ts'
import type { KeepOrder } from '../wire/kept.ts'

const longestLine = 4 * 1024 * 1024
/** Bodies up to this size are read before they are stored, so that they can share a transaction. */
const wholeBytes = 64 * 1024

export async function readOrder(
  request: IncomingMessage,
): Promise<{ order: KeepOrder; body: Uint8Array | AsyncIterable<Uint8Array>; bodyBytes: number }> {
  const chunks = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let head = Buffer.alloc(0)
  let end = -1
  while (end < 0) {
    const { value, done } = await chunks.next()
    if (done || head.length > longestLine)
      throw new ProtocolError('an order to keep a request: no first line')
    head = Buffer.concat([head, value])
    end = head.indexOf(10)
  }
  const order = JSON.parse(head.toString('utf8', 0, end)) as KeepOrder
  const first = head.subarray(end + 1)
  const bodyBytes = Number(request.headers['content-length'] ?? 0) - end - 1
  const body = rest(first, chunks, bodyBytes)
  if (bodyBytes > wholeBytes) return { order, body, bodyBytes }
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return { order, body: Buffer.concat(parts), bodyBytes }
}

/** Throws if the front breaks off. */
async function* rest(
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
  bytes: number,
): AsyncGenerator<Uint8Array> {
  let have = first.length
  if (have > 0) yield first
  while (have < bytes) {
    const { value, done } = await chunks.next()
    if (done) throw new ProtocolError('an order to keep a request: its body breaks off')
    have += value.length
    yield value
  }
}
