/** Converts the value that a workload returned into an answer: a head, and a body as bytes or a stream. */
import { isReply } from '../../workload/reply.ts'
import { toJson } from './json-answer.ts'
import { type Answer, isResponse, startResponse } from './response-answer.ts'

type Body = Pick<Answer, 'body'> & { contentType: string }

const text = 'text/plain; charset=utf-8'
const binary = 'application/octet-stream'

/** Text as bytes. */
type Encode = (text: string) => Uint8Array

const newBytes: Encode = (text) => Buffer.from(text)

export async function toAnswer(value: unknown, encode = newBytes): Promise<Answer> {
  if (isResponse(value)) return startResponse(value)
  if (!isReply(value))
    return answerOf({ status: value === undefined ? 204 : 200 }, await toBody(value, encode))
  if (isResponse(value.body)) {
    throw new TypeError(
      'reply: the body is a Response, which has its own status and headers; return it alone',
    )
  }
  const { status = value.body === undefined ? 204 : 200, contentType, headers } = value
  return answerOf({ status, headers }, await toBody(value.body, encode, contentType))
}

function answerOf(
  { status, headers = {} }: { status: number; headers?: Readonly<Record<string, string>> },
  { body, contentType }: Body,
): Answer {
  const streamed = !(body instanceof Uint8Array)
  return { head: { status, contentType, headers: { ...headers }, ...(streamed && { streamed }) }, body }
}

async function toBody(value: unknown, encode: Encode, contentType?: string): Promise<Body> {
  if (value === undefined) return { body: new Uint8Array(), contentType: contentType ?? '' }
  if (typeof value === 'string') return { body: encode(value), contentType: contentType ?? text }
  if (value instanceof Uint8Array) return { body: value, contentType: contentType ?? binary }
  if (value instanceof ArrayBuffer) return { body: new Uint8Array(value), contentType: contentType ?? binary }
  if (isStream(value)) return startStream(value, contentType)
  return { body: encode(toJson(value)), contentType: contentType ?? 'application/json' }
}

type Stream = AsyncIterable<unknown> | Generator<unknown>

function isStream(value: unknown): value is Stream {
  if (typeof value !== 'object' || value === null) return false
  // Among synchronous iterables only generators are streams: arrays, maps and so on are values.
  return Symbol.asyncIterator in value || (Symbol.iterator in value && 'next' in value)
}

/**
 * Waits for the first chunk: its type determines the content type, and an earlier error can still be the answer. Events
 * are not waited for: their clients expect the head when they connect.
 */
async function startStream(stream: Stream, contentType?: string): Promise<Body> {
  const iterator = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]()
  async function* bytes() {
    try {
      for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
        isText ??= typeof step.value === 'string'
        yield toBytes(step.value)
      }
    } finally {
      await iterator.return?.(undefined)
    }
  }
  let isText: boolean | undefined
  const body = bytes()
  if (isEventStream(contentType)) return { body, contentType: contentType! }
  const first = await body.next()
  return { body: startingWith(first, body), contentType: contentType ?? (isText ? text : binary) }
}

async function* startingWith(first: IteratorResult<Uint8Array>, body: AsyncGenerator<Uint8Array>) {
  if (!first.done) yield first.value
  yield* body
}

function isEventStream(contentType = ''): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(contentType)
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk)
  const kind = chunk === null ? 'null' : typeof chunk
  throw new TypeError(
    `a streamed answer must yield strings or bytes, not ${kind}; yield JSON.stringify(value) and a line end, for example`,
  )
}
