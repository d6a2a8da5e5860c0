/** The HTTP connections of a client. */

import type { Agent, Dispatcher } from 'undici'
import { UnreachableError } from '../../lib/errors.ts'
import type { Headers } from './answer.ts'
import type { Question } from './question.ts'

export interface Received {
  status: number
  headers: Headers
  body: AsyncIterable<Uint8Array>
  /** The whole body. */
  bytes(): Promise<Uint8Array>
}

export interface Connection {
  send(question: Question, signal: AbortSignal | undefined): Promise<Received>
  close(): Promise<void>
}

/** undici is loaded with the first request: workloads import this package too. */
export function connectionTo(origin: string): Connection {
  let agent: Promise<Agent> | undefined
  let closed = false
  // A connection is silent for as long as its job runs.
  const open = async () => new (await import('undici')).Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return {
    async send({ method, path, headers, body = null }, signal) {
      if (closed) throw new UnreachableError('the client is closed')
      signal?.throwIfAborted()
      agent ??= open()
      const failed = (error: unknown) => (signal?.aborted ? signal.reason : unreachable(origin, error))
      try {
        const how = method ?? ('POST' as const)
        const request = { origin, path, method: how, headers, body, ...(signal && { signal }) }
        return receivedOf(await (await agent).request(request), failed)
      } catch (error) {
        throw failed(error)
      }
    },
    async close() {
      closed = true
      await (await agent)?.destroy()
    },
  }
}

function receivedOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  failed: (error: unknown) => unknown,
): Received {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return {
    status: statusCode,
    headers: Object.fromEntries(entries) as Headers,
    body: chunksOf(body, failed),
    async bytes() {
      try {
        return await body.bytes()
      } catch (error) {
        throw failed(error)
      }
    },
  }
}

async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  failed: (error: unknown) => unknown,
): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw failed(error)
  }
}

function unreachable(origin: string, cause: unknown): UnreachableError {
  const { code, message } = cause as NodeJS.ErrnoException
  const why = code ?? message
  return new UnreachableError(
    why === 'ECONNREFUSED'
      ? `nobody listens at ${origin}`
      : `${origin} gave no complete answer (${why}); whether the request was served is not known`,
    { cause },
  )
}
