/** The keeper's port on loopback, for fronts: they pass on requests that are to be kept, and questions about jobs. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { RecoveryTime } from '../lib/retry-times.ts'
import type { JobStore, StoredJob } from '../store/store.ts'
import { jobsPath, keepPath, keptEndField, keptJobField, linksOf, pathOf } from '../wire/kept.ts'
import { authorizer } from '../wire/token.ts'
import { type Caller, callerOf, maySee } from './callers.ts'
import type { ClusterView } from './cluster-view.ts'
import { cancelFacts, describeJob, reasonsOf } from './describe-job.ts'
import { documentOf, type JobDocument, retryAfterS } from './documents.ts'
import { followJob, lookMs } from './job-events.ts'
import type { Keeper } from './keeper.ts'
import { isKeptId } from './kept-id.ts'
import { listJobs } from './list-jobs.ts'
import { readOrder } from './read-order.ts'
import { json, KeeperProblem, problemOf, refuse } from './responses.ts'
import { SharedReads } from './shared-reads.ts'
import { targetProblem } from './webhooks/targets.ts'

export interface KeeperServerParts {
  /** Undefined: another cluster leads, or the store cannot be reached. Then jobs can be read only. */
  keeper(): Keeper | undefined
  store: JobStore
  view: ClusterView
  token: string
  /** Operators see the jobs of all clients. */
  operatorToken(): string
  /** Aborted when the keeper ends: nobody waits for an answer any longer. */
  closing?: AbortSignal | undefined
  /** Where webhooks may go. */
  webhookHosts: readonly string[]
  /** When a request with this body may be sent again, in milliseconds, because this process is overloaded. */
  overload?: { refusalMs(bodyBytes: number): number | undefined }
  now(): number
  log(line: string): void
}

/** How long the store fails, until it has once. */
const guessedOutageMs = 2_000

export function keeperServer(parts: KeeperServerParts): Server {
  const isAuthorized = authorizer(parts.token)
  const outage = new RecoveryTime(guessedOutageMs, parts.now)
  // A little less than the time between two looks of a follower.
  const serving = { ...parts, reads: new SharedReads(parts.store, lookMs * 0.9) }
  return createServer({ requestTimeout: 0, highWaterMark: 256 * 1024 }, (request, response) => {
    if (!isAuthorized(request.headers.authorization))
      return refuse(response, new KeeperProblem(403, 'forbidden', 'Only for fronts of the cluster.'))
    // Who asks may leave at any time.
    response.on('error', () => {})
    handle(serving, request, response).then(
      () => outage.ends(),
      (error: Error) => {
        const problem = problemOf(error, parts.log)
        const isOutage = problem.status === 503 && problem.fields['retry-after'] === undefined
        if (isOutage) outage.begins()
        refuse(response, problem, isOutage ? outage.retryAfterMs() : undefined)
      },
    )
  })
}

interface ServeParts extends KeeperServerParts {
  /** Of followers. */
  reads: SharedReads
}

async function handle(parts: ServeParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://keeper')
  if (path === keepPath) return keep(parts, request, response)
  const caller = callerOf(request, parts.operatorToken())
  const [id = '', part, ...more] = path.slice(jobsPath.length + 1).split('/')
  if (id === '' && part === undefined) {
    allow(request, ['GET', 'HEAD'])
    return json(
      response,
      200,
      await listJobs(parts.store, caller, query, (job) => describeJob(parts, job, caller)),
    )
  }
  if ((part !== undefined && part !== 'result' && part !== 'events') || more.length > 0)
    throw new KeeperProblem(
      404,
      'not-found',
      `There is nothing at ${path.slice(0, 200)}; a job has /result and /events.`,
    )
  allow(request, part === undefined ? ['GET', 'HEAD', 'DELETE'] : ['GET', 'HEAD'])
  const job = isKeptId(id) ? await parts.store.job(id) : undefined
  // Nobody learns of jobs of others.
  if (!job || !maySee(caller, job))
    throw new KeeperProblem(404, 'unknown-job', `There is no job ${id.slice(0, 100)}, or it is not yours.`)
  if (request.method === 'DELETE') return cancel(parts, job, response, caller)
  if (part === 'result') return result(parts, job, response)
  if (part === 'events') return events(parts, { job, caller }, request, response)
  const [document, why] = await Promise.all([describeJob(parts, job, caller), reasonsOf(parts, job)])
  json(response, 200, { ...document, ...why }, headersOf(parts, job, document))
}

function events(
  parts: ServeParts,
  { job: { id }, caller }: { job: StoredJob; caller: Caller },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { reads, keeper, closing } = parts
  const describe = (each: StoredJob) => describeJob(parts, each, caller)
  const job = () => reads.job(id, keeper()?.standing(id) !== undefined)
  return followJob({ job, closing, describe, ended: () => keeper()?.ended(id) ?? never }, request, response)
}

const never = new Promise<void>(() => {})

function leading({ keeper }: KeeperServerParts): Keeper {
  const leads = keeper()
  if (leads) return leads
  throw new KeeperProblem(
    503,
    'keeper-away',
    'Another cluster keeps the requests of this store at the moment, or the store cannot be reached. Send the request to that cluster, or try again.',
  )
}

function allow({ method = '' }: IncomingMessage, methods: readonly string[]): void {
  if (methods.includes(method)) return
  const listed = methods.join(', ')
  throw new KeeperProblem(405, 'wrong-method', `${method} is not allowed here; allowed: ${listed}.`, {
    allow: listed,
  })
}

async function keep(
  parts: KeeperServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { store, webhookHosts, now, closing, overload } = parts
  const keeper = leading(parts)
  const againMs = overload?.refusalMs(Number(request.headers['content-length'] ?? 0))
  if (againMs !== undefined)
    throw new KeeperProblem(503, 'overloaded', 'The keeper of requests is overloaded. Try again later.', {
      'retry-after': `${Math.ceil(againMs / 1000)}`,
    })
  const { order, body, bodyBytes } = await readOrder(request)
  const problem = order.webhook === undefined ? undefined : targetProblem(order.webhook, webhookHosts)
  if (problem !== undefined)
    throw new KeeperProblem(
      422,
      'bad-webhook',
      `Plimsoll-Webhook = ${order.webhook?.slice(0, 200)}: ${problem}.`,
    )
  const kept = await keeper.keep(order, body, bodyBytes)
  if (!kept)
    throw new KeeperProblem(
      422,
      'key-used',
      'This Idempotency-Key was used for another request: its method, URL, type or body differs.',
    )
  const { id, ended, endsAt, isRepeat } = kept
  await within(ended(), { limitMs: order.waitMs, id, endsAt, closing }, response)
  if (response.destroyed) return
  const job = await store.job(id)
  if (!job) throw new KeeperProblem(410, 'result-gone', `Job ${id} is not remembered any more.`)
  const fields = {
    ...(order.applied !== undefined && { 'preference-applied': order.applied }),
    ...(isRepeat && { 'plimsoll-repeated': 'true' }),
  }
  if (job.state === 'answered') return sendResult(store, job, response, fields)
  if (job.state === 'cancelled') throw cancelled(id)
  json(response, 202, documentOf(job, { open: keeper.standing(id), now: now() }), {
    ...fields,
    location: pathOf(id),
    'retry-after': `${retryAfterS(job, now())}`,
  })
}

interface Wait {
  /** Null: no limit. */
  limitMs: number | null
  id: string
  /** When the job is expected to have ended. */
  endsAt: number | undefined
  closing: AbortSignal | undefined
}

/**
 * Resolves when the job has ended, the time is over, the keeper ends or nobody waits any longer. The front is told at once
 * that the job is stored, so that it can answer if the keeper or itself ends first.
 */
async function within(
  ended: Promise<void>,
  { limitMs, id, endsAt, closing }: Wait,
  response: ServerResponse,
): Promise<void> {
  if (limitMs === 0) return
  response.writeEarlyHints({
    link: `<${pathOf(id)}>; rel=monitor`,
    [keptJobField]: id,
    ...(endsAt !== undefined && { [keptEndField]: `${Math.round(endsAt)}` }),
  })
  const over = Promise.withResolvers<void>()
  response.once('close', over.resolve)
  const close = () => over.resolve()
  closing?.addEventListener('abort', close)
  if (closing?.aborted) over.resolve()
  const timer = limitMs === null ? undefined : setTimeout(over.resolve, limitMs)
  await Promise.race([ended, over.promise])
  clearTimeout(timer)
  closing?.removeEventListener('abort', close)
}

/** Says how much work is saved: what the job was still expected to need. */
async function cancel(
  parts: KeeperServerParts,
  job: StoredJob,
  response: ServerResponse,
  caller: Caller,
): Promise<void> {
  const { store } = parts
  const keeper = leading(parts)
  const before = await describeJob(parts, job)
  await keeper.cancel(job.id, cancelFacts(before))
  const after = (await store.job(job.id)) ?? job
  if (after.state === 'answered')
    throw new KeeperProblem(
      409,
      'already-answered',
      `Job ${job.id} has an answer: it cannot be cancelled any more.`,
    )
  json(response, 200, await describeJob(parts, after, caller))
}

async function result(parts: KeeperServerParts, job: StoredJob, response: ServerResponse): Promise<void> {
  if (job.state === 'answered') return sendResult(parts.store, job, response, {})
  if (job.state === 'cancelled') throw cancelled(job.id)
  const document = await describeJob(parts, job)
  json(response, 202, document, { location: pathOf(job.id), ...headersOf(parts, job, document) })
}

async function sendResult(
  store: JobStore,
  job: StoredJob,
  response: ServerResponse,
  fields: Record<string, string>,
): Promise<void> {
  const kept = await store.result(job.id)
  if (!kept) throw new KeeperProblem(410, 'result-gone', `The result of job ${job.id} is not kept any more.`)
  for (const [name, value] of kept.fields) response.appendHeader(name, value)
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
  // Tells the answer of the job from those of the keeper.
  response.setHeader('content-location', linksOf(job.id).result)
  response.writeHead(kept.status, { 'content-length': `${kept.bytes}` })
  if (response.req.method === 'HEAD') return void response.end()
  await pipeline(Readable.from(kept.body), response).catch(() => response.destroy())
}

function cancelled(id: string): KeeperProblem {
  return new KeeperProblem(410, 'cancelled', `Job ${id} was cancelled, and has no result.`)
}

function headersOf(
  { now }: KeeperServerParts,
  job: StoredJob,
  { progress, eta }: JobDocument,
): Record<string, string> {
  if (job.state !== 'open') return {}
  return { 'retry-after': `${retryAfterS(job, now(), progress && eta)}` }
}
