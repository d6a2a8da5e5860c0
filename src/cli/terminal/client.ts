/** An HTTP client for commands. */

import { Agent, type Dispatcher } from 'undici'
import { ConfigError, UnreachableError } from '../../lib/errors.ts'

export const publicUrl = 'http://127.0.0.1:8080'
export const adminUrl = 'http://127.0.0.1:8081'

/** Where operators ask. */
export const adminOption = {
  admin: { type: 'text', help: "the cluster's admin address", default: adminUrl, value: 'URL' },
} as const

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Dispatcher.ResponseData['body']
}

export interface Question {
  method: string
  /** Path and query. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** Called with the id of the job when the cluster has accepted the request, long before its answer. */
  onJob?(id: string): void
}

export interface Client {
  /** Rejects with an `UnreachableError` without an answer, or with the reason of an aborted signal. */
  send(question: Question): Promise<Answer>
  /** Closes all connections, including those in use. */
  close(): Promise<void>
}

export function client(url: URL): Client {
  // A connection is silent for as long as its job runs.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return {
    async send({ method, path, headers = {}, body, signal, onJob }) {
      try {
        const answer = await agent.request({
          origin: url.origin,
          path,
          method: method as Dispatcher.HttpMethod,
          headers: { ...headers, ...(onJob && { 'plimsoll-announce': 'job' }) },
          ...(onJob && {
            onInfo: ({ headers }) => {
              const job = plain(headers)['plimsoll-job']
              if (job !== undefined) onJob(job)
            },
          }),
          ...(body !== undefined && { body }),
          ...(signal && { signal }),
        })
        return { status: answer.statusCode, headers: plain(answer.headers), body: answer.body }
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        throw unreachable(url, error as NodeJS.ErrnoException)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Fetches JSON from a cluster. */
export async function getJson<T>(url: URL, path: string, signal?: AbortSignal): Promise<T> {
  const connection = client(url)
  try {
    const { status, body } = await connection.send({ method: 'GET', path, ...(signal && { signal }) })
    const text = await body.text()
    if (status === 200) return JSON.parse(text) as T
    throw new UnreachableError(`${url.origin}${path} answered ${status}: is it the right port of a cluster?`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UnreachableError(`${url.origin}${path} is not the address of a cluster`)
  } finally {
    await connection.close()
  }
}

/** Reads an option that holds the address of a cluster. */
export function readUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new ConfigError(
    `--${option} = ${text}: must be an address such as ${option === 'admin' ? adminUrl : publicUrl}`,
  )
}

function unreachable(url: URL, error: NodeJS.ErrnoException): UnreachableError {
  const why = error.code ?? error.message
  const nobody = why === 'ECONNREFUSED'
  return new UnreachableError(
    nobody
      ? `nobody listens at ${url.origin}: is a cluster up? start one with: plimsoll up`
      : `${url.origin} gave no answer (${why}); whether the request was served is not known`,
    { cause: error },
  )
}

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
