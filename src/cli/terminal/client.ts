/** An HTTP client for commands. */

import { Agent, type Dispatcher } from 'undici'
import { ConfigError, UnreachableError } from '../../lib/errors.ts'
import { bearer } from '../../wire/token.ts'

export const publicUrl = 'http://127.0.0.1:8080'
export const adminUrl = 'http://127.0.0.1:8081'

/** Finds a token when it is needed. */
export type TokenSource = () => Promise<string>

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

/** `token`: used if the cluster asks for one. */
export function client(url: URL, token?: TokenSource): Client {
  // A connection is silent for as long as its job runs.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const plainly = {
    async send({ method, path, headers = {}, body, signal, onJob }: Question): Promise<Answer> {
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
  return token ? authorized(plainly, token) : plainly
}

/** Sends a question again with the token if it is answered with 401. */
function authorized({ send, close }: Client, token: TokenSource): Client {
  return {
    async send(question) {
      const answer = await send(question)
      if (answer.status !== 401) return answer
      await answer.body.dump()
      const headers = { ...question.headers, authorization: bearer(await token()) }
      return send({ ...question, headers })
    },
    close,
  }
}

/** Fetches JSON from a cluster. */
export async function getJson<T>(
  url: URL,
  path: string,
  { signal, token }: { signal?: AbortSignal; token?: TokenSource } = {},
): Promise<T> {
  const connection = client(url, token)
  try {
    const { status, body } = await connection.send({ method: 'GET', path, ...(signal && { signal }) })
    const text = await body.text()
    if (status === 200) return JSON.parse(text) as T
    if (status === 401 || status === 403) throw new UnreachableError(refusalText(url, status, text))
    throw new UnreachableError(`${url.origin}${path} answered ${status}: is it the right port of a cluster?`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UnreachableError(`${url.origin}${path} is not the address of a cluster`)
  } finally {
    await connection.close()
  }
}

/** Why the admin port refused an operator, from its problem document. */
export function refusalText(url: URL, status: number, text: string): string {
  let detail = text.trim()
  try {
    detail = JSON.parse(text).detail ?? detail
  } catch {}
  return `${url.origin} answered ${status}: ${detail}`
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
  return new UnreachableError(unreachableText(url, error.code ?? error.message), { cause: error })
}

const untrusted = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

function unreachableText({ origin, hostname }: URL, why: string): string {
  if (why === 'ECONNREFUSED')
    return `nobody listens at ${origin}: is a cluster up? start one with: plimsoll up`
  if (untrusted.includes(why))
    return `the certificate of ${origin} is signed by no trusted authority (${why}): name the file of yours in the variable NODE_EXTRA_CA_CERTS`
  if (why === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of ${origin} is not valid for ${hostname} (${why}): give the address with a name that is in it`
  return `${origin} gave no answer (${why}); whether the request was served is not known`
}

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
