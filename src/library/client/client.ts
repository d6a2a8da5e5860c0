/** A client whose types come from workloads. */

import type { QuoteDocument } from '../../estimate/quote.ts'
import { invalid } from '../../lib/checks.ts'
import { UnreachableError } from '../../lib/errors.ts'
import { type Answer, decoded, factsOf, type Headers, problemOf, type StreamedAnswer } from './answer.ts'
import { connectionTo, type Received } from './connection.ts'
import { keptAnswer } from './kept-answer.ts'
import { type Question, questionOf, type RequestOptions } from './question.ts'
import type { AnyWorkloads, InputOf, NameIn, ResultOf, Served, WorkloadsOf } from './types.ts'

/** Options of a client; those of a request take precedence. */
export interface ClientOptions {
  /** Sent as a bearer token, for clusters with `clientBy: 'key'`. */
  key?: string
  headers?: Readonly<Record<string, string>>
  /** Deadline of requests that name none. */
  deadlineMs?: number
}

/** Parameters may be left out if none is required. */
type Params<W> =
  Record<never, never> extends InputOf<W>
    ? [params?: InputOf<W>, options?: RequestOptions]
    : [params: InputOf<W>, options?: RequestOptions]

/**
 * Sends requests to the workloads of a cluster. All methods reject with a `RequestError` if the cluster answers with a
 * problem, an `UnreachableError` if it gives no answer, and the reason of an aborted signal.
 */
export interface Client<S extends Served = AnyWorkloads> extends AsyncDisposable {
  /**
   * Runs a workload and resolves with its answer, also if the cluster keeps the request as a job. With a `prefer` header for
   * `respond-async` or `wait`, it may resolve with that job (202).
   */
  request<N extends NameIn<S>>(
    workload: N,
    ...args: Params<WorkloadsOf<S>[N]>
  ): Promise<Answer<ResultOf<WorkloadsOf<S>[N]>>>
  /** Like `request`, but resolves as soon as the answer begins. */
  stream<N extends NameIn<S>>(workload: N, ...args: Params<WorkloadsOf<S>[N]>): Promise<StreamedAnswer>
  /** What the request would cost now. Runs nothing. */
  estimate<N extends NameIn<S>>(workload: N, ...args: Params<WorkloadsOf<S>[N]>): Promise<QuoteDocument>
  /** Closes all connections; open requests are rejected. Idempotent. */
  close(): Promise<void>
}

/**
 * Makes a client for a cluster, or for the address of its public port. The type argument is that of a workload, of the
 * default export of a module, or of a map of workloads by name: `createClient<typeof sum>(cluster)`.
 */
export function createClient<S extends Served = AnyWorkloads>(
  cluster: string | URL | { readonly url: string },
  options: ClientOptions = {},
): Client<S> {
  const connection = connectionTo(originOf(cluster))
  const common: Headers = {
    ...options.headers,
    ...(options.key !== undefined && { authorization: `Bearer ${checkKey(options.key)}` }),
  }
  const send = (path: string, params: object | undefined, asked: RequestOptions = {}) => {
    const { deadlineMs } = options
    const merged = {
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...asked,
      headers: { ...common, ...asked.headers },
    }
    return sent(connection.send, questionOf(path, params, merged), asked.signal)
  }
  const pathOf = (workload: string) => `/${encodeURIComponent(workload)}`
  const close = () => connection.close()
  // The types of arguments and results are those of the interface; here they are only passed on.
  const client: Client = {
    request: async (workload, ...[params, asked]) => answerOf(await send(pathOf(workload), params, asked)),
    async stream(workload, ...[params, asked]) {
      const { status, headers, body } = await send(pathOf(workload), params, asked)
      return { ...headOf(status, headers), body }
    },
    async estimate(workload, ...[params, asked]) {
      const { result } = await answerOf(await send(`/-/estimate${pathOf(workload)}`, params, asked))
      return result as QuoteDocument
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  return client as unknown as Client<S>
}

/** Rejects if the response is a problem. */
async function sent(
  send: ReturnType<typeof connectionTo>['send'],
  question: Question,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const received = await keptAnswer(send, question, await send(question, signal), signal)
  if (received.status < 400) return received
  const bytes = await received.bytes()
  const problem = problemOf(received.status, received.headers, bytes)
  if (problem) throw problem
  return { ...received, bytes: async () => bytes, body: once(bytes) }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

function headOf(status: number, headers: Headers): Omit<Answer<never>, 'result'> {
  return { ...factsOf(headers), status, headers, contentType: headers['content-type'] ?? '' }
}

async function answerOf({ status, headers, bytes }: Received): Promise<Answer<unknown>> {
  const head = headOf(status, headers)
  const whole = await bytes()
  try {
    return { ...head, result: decoded(status, head.contentType, whole) }
  } catch (error) {
    throw new UnreachableError(`the answer is not valid ${head.contentType}`, { cause: error })
  }
}

function originOf(cluster: string | URL | { readonly url: string }): string {
  const given = typeof cluster === 'object' && 'url' in cluster ? cluster.url : cluster
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url.origin
  throw invalid('createClient: cluster', given, 'a cluster, or an address such as http://127.0.0.1:8080')
}

function checkKey(key: string): string {
  // The key is secret and the message may be logged.
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw invalid('createClient: key', '(secret)', 'visible ASCII characters, one or more')
}
