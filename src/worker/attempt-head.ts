/** The head of an attempt as a front sends it: before the body, or in a header where another protocol is to follow. */
import type { IncomingMessage } from 'node:http'
import { type AttemptHead, headers } from '../wire/messages.ts'
import type { AttemptBody } from './held.ts'

const longestHead = 16 * 1024 * 1024

/** Reads no further than the head. */
export async function readHead(request: IncomingMessage): Promise<AttemptHead> {
  const bytes = headBytes(request)
  if (!(Number.isInteger(bytes) && bytes > 0 && bytes <= longestHead)) {
    throw new Error(`${headers.headBytes}: must be a whole number from 1 to ${longestHead}`)
  }
  const chunks: Buffer[] = []
  let have = 0
  while (have < bytes) {
    const chunk: Buffer | null = request.read()
    if (chunk === null) {
      if (request.readableEnded || request.destroyed) throw new Error('the attempt broke off')
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
    have += chunk.length
  }
  const all = Buffer.concat(chunks)
  if (have > bytes) request.unshift(all.subarray(bytes))
  return JSON.parse(all.toString('utf8', 0, bytes)) as AttemptHead
}

/** What follows the head. A client's request without a body is told from one with an empty body. */
export function bodyOf(request: IncomingMessage, { http }: AttemptHead): AttemptBody {
  if (http && Number(request.headers['content-length']) === headBytes(request)) return {}
  return { body: request, ...(http && { trailers: () => trailersOf(request) }) }
}

/** In the header of an upgrade. */
export function headInHeader(request: IncomingMessage): AttemptHead {
  const text = request.headers[headers.head]
  if (typeof text !== 'string') throw new Error(`${headers.head}: must be given`)
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as AttemptHead
}

function headBytes(request: IncomingMessage): number {
  return Number(request.headers[headers.headBytes])
}

function trailersOf({ trailers }: IncomingMessage): string[] {
  const text = trailers[headers.trailers]
  return text === undefined ? [] : (JSON.parse(text) as string[])
}
