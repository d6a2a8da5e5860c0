/** The built-in paths of the public port, `/-/…`, which Plimsoll itself answers. */

import type { Question, Quote } from '../estimate/estimator.ts'
import { jobsPath } from '../wire/kept.ts'
import { allow, RequestProblem } from './problem.ts'
import { type RequestParts, readRequest } from './request/request.ts'
import type { Incoming } from './request/target.ts'
import { type RequestUrl, withoutPrefix } from './request/url.ts'

export interface BuiltInParts extends RequestParts {
  isReady(): boolean
  /** The document that describes a quote, or a promise of it. */
  describeQuote(question: Question, quote: Quote): unknown
}

const root = '/-/'
const estimatePath = '/-/estimate'

export function isBuiltIn({ path }: RequestUrl): boolean {
  return path.startsWith(root)
}

/** True: it is about jobs that the keeper keeps. */
export function isJobsPath({ path }: RequestUrl): boolean {
  return path === jobsPath || path.startsWith(`${jobsPath}/`)
}

export async function serveBuiltIn(
  parts: BuiltInParts,
  requestUrl: RequestUrl,
  incoming: Incoming,
): Promise<void> {
  const { request, client } = incoming
  const { path } = requestUrl
  if (path.startsWith(`${estimatePath}/`)) return estimate(parts, requestUrl, incoming)
  allow(request.method, ['GET', 'HEAD'])
  if (path === '/-/health') return client.json(200, { status: 'ok' })
  if (path === '/-/ready') {
    const ready = parts.isReady()
    return client.json(ready ? 200 : 503, { ready })
  }
  if (path === '/-/workloads') return client.json(200, { workloads: parts.service.list() })
  throw new RequestProblem(404, 'not-found', `There is nothing at ${path}.`)
}

/** Quotes the request that the rest of the path, the query and the body describe. */
async function estimate(parts: BuiltInParts, requestUrl: RequestUrl, incoming: Incoming): Promise<void> {
  const method = parts.service.quotedMethod(incoming.request)
  const url = withoutPrefix(requestUrl, estimatePath)
  const { question, quote, body } = await readRequest(parts, { ...incoming, url, method })
  body.discard()
  incoming.client.json(200, await parts.describeQuote(question, quote))
}
