/** Converts the value that a workload returned into an answer: a head, and a body as bytes or a stream. */
import { isReply } from '../../workload/reply.ts'
import type { AnswerHead } from '../slots/frames.ts'

export interface Answer {
  head: AnswerHead
  body: Uint8Array | AsyncIterable<Uint8Array>
}

const text = 'text/plain; charset=utf-8'
const binary = 'application/octet-stream'

export async function toAnswer(value: unknown): Promise<Answer> {
  if (!isReply(value)) {
    const { body, contentType } = await toBody(value)
    return { head: { status: value === undefined ? 204 : 200, contentType, headers: {} }, body }
  }
  const { body, contentType } = await toBody(value.body)
  const { status = value.body === undefined ? 204 : 200, headers } = value
  return { head: { status, contentType: value.contentType ?? contentType, headers: { ...headers } }, body }
}

async function toBody(value: unknown): Promise<{ body: Answer['body']; contentType: string }> {
  if (value === undefined) return { body: new Uint8Array(), contentType: '' }
  if (typeof value === 'string') return { body: Buffer.from(value), contentType: text }
  if (value instanceof Uint8Array) return { body: value, contentType: binary }
  if (value instanceof ArrayBuffer) return { body: new Uint8Array(value), contentType: binary }
  if (isStream(value)) return startStream(value)
  const json = toJson(value)
  return { body: Buffer.from(json), contentType: 'application/json' }
}

type Stream = AsyncIterable<unknown> | Generator<unknown>

function isStream(value: unknown): value is Stream {
  if (typeof value !== 'object' || value === null) return false
  // Among synchronous iterables only generators are streams: arrays, maps and so on are values.
  return Symbol.asyncIterator in value || (Symbol.iterator in value && 'next' in value)
}

/** Waits for the first chunk: its type determines the content type, and an earlier error can still be the answer. */
async function startStream(stream: Stream): Promise<{ body: Answer['body']; contentType: string }> {
  const iterator = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]()
  const first = await iterator.next()
  async function* body() {
    try {
      for (let step = first; !step.done; step = await iterator.next()) yield toBytes(step.value)
    } finally {
      await iterator.return?.(undefined)
    }
  }
  return { body: body(), contentType: typeof first.value === 'string' ? text : binary }
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk)
  throw new TypeError(`a streamed answer must yield strings or bytes, not ${typeof chunk}`)
}

function toJson(value: unknown): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    throw new TypeError(`the answer cannot be serialised as JSON: ${(error as Error).message}`)
  }
  if (json === undefined)
    throw new TypeError(`the answer cannot be serialised as JSON: it is a ${typeof value}`)
  return json
}
