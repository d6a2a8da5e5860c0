/** Reads the head of an attempt, which a front sends before the body, or in a header if the connection is upgraded. */
import type { IncomingMessage } from 'node:http'
import { type AttemptHead, headers } from '../../wire/messages.ts'
import type { AttemptBody } from '../attempt-state.ts'

/** Parameters may be as long as the largest body of a request, 16 MiB; the rest is short. */
const maxHeadBytes = 17 * 1024 * 1024

/** Leaves the body unread. */
export async function readHead(request: IncomingMessage): Promise<AttemptHead> {
  const bytes = headBytes(request)
  if (!(Number.isInteger(bytes) && bytes > 0 && bytes <= maxHeadBytes)) {
    throw new Error(`${headers.headBytes}: must be a whole number from 1 to ${maxHeadBytes}`)
  }
  const chunks: Buffer[] = []
  let received = 0
  while (received < bytes) {
    const chunk: Buffer | null = request.read()
    if (chunk === null) {
      if (request.readableEnded || request.destroyed)
        throw new Error('the request ended before its head was complete')
      await new Promise<void>((resolve) => {
        const go = () => {
          request.off('readable', go).off('end', go).off('close', go)
          resolve()
        }
        request.on('readable', go).on('end', go).on('close', go)
      })
      continue
    }
    chunks.push(chunk)
    received += chunk.length
  }
  const all = Buffer.concat(chunks)
  if (received > bytes) request.unshift(all.subarray(bytes))
  return JSON.parse(all.toString('utf8', 0, bytes)) as AttemptHead
}

/** The body after the head. Distinguishes a client's request without a body from one with an empty body. */
export function bodyOf(request: IncomingMessage, { http }: AttemptHead): AttemptBody {
  if (http && Number(request.headers['content-length']) === headBytes(request)) return {}
  return { body: request, ...(http && { trailers: () => trailersOf(request) }) }
}

/** Reads the head from the header of an upgrade request. */
export function headInHeader(request: IncomingMessage): AttemptHead {
  const text = request.headers[headers.head]
  if (typeof text !== 'string') throw new Error(`${headers.head}: is missing`)
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as AttemptHead
}

function headBytes(request: IncomingMessage): number {
  return Number(request.headers[headers.headBytes])
}

function trailersOf({ trailers }: IncomingMessage): string[] {
  const text = trailers[headers.trailers]
  return text === undefined ? [] : (JSON.parse(text) as string[])
}
