/** Answers that are a Web `Response`: its status and headers are the head, its body is streamed. */
import { setImmediate } from 'node:timers/promises'
import type { AnswerHead } from '../slots/frames.ts'

export interface Answer {
  head: AnswerHead
  body: Uint8Array | AsyncIterable<Uint8Array>
}

/** By name: a workload may use the class of another package, and the global class takes milliseconds to load. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

/**
 * The head is known, so it is sent at once. A body that is complete already, as that of `Response.json(…)`, is sent as a
 * whole.
 */
export async function startResponse(response: Response): Promise<Answer> {
  if (response.status < 200 || response.status > 599) {
    throw new TypeError(
      `a Response with status ${response.status} cannot be an answer; it must be from 200 to 599`,
    )
  }
  if (response.bodyUsed) throw new TypeError('the Response cannot be an answer: its body was already read')
  const head = headOf(response)
  if (!response.body) return { head, body: new Uint8Array() }
  const reader = response.body.getReader()
  const early = await readEarly(reader)
  if (early.done) return { head, body: Buffer.concat(early.chunks) }
  return { head: { ...head, streamed: true }, body: rest(early, reader) }
}

function headOf(response: Response): AnswerHead {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') headers[name] = value
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  // `fetch` has decoded the body, but left the header.
  if (response.url !== '') delete headers['content-encoding']
  const contentType = response.headers.get('content-type') ?? ''
  delete headers['content-type']
  return { status: response.status, contentType, headers }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

interface Early {
  chunks: Uint8Array[]
  done: boolean
  /** A read that has not completed yet. */
  pending: ReturnType<Reader['read']> | undefined
}

/** Larger bodies are streamed even if they are complete. */
const wholeBytes = 256 * 1024

/** Reads what is available without waiting. */
async function readEarly(reader: Reader): Promise<Early> {
  const chunks: Uint8Array[] = []
  for (let bytes = 0; bytes <= wholeBytes; ) {
    const pending = reader.read()
    // The body may fail while nobody waits for it.
    pending.catch(() => {})
    const step = await Promise.race([pending, setImmediate(undefined)])
    if (!step) return { chunks, done: false, pending }
    if (step.done) return { chunks, done: true, pending: undefined }
    chunks.push(checked(step.value))
    bytes += step.value.length
  }
  return { chunks, done: false, pending: undefined }
}

async function* rest({ chunks, pending }: Early, reader: Reader): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
    for (let step = await (pending ?? reader.read()); !step.done; step = await reader.read()) {
      yield checked(step.value)
    }
  } finally {
    await reader.cancel()
  }
}

function checked(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  throw new TypeError(
    `the body of a Response must yield bytes, not ${typeof chunk}; encode text with TextEncoder`,
  )
}
