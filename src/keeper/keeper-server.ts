/** The keeper's port on loopback, for fronts: they pass on requests that are to be kept, and questions about jobs. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { RecoveryTime } from '../lib/retry-times.ts'
import type { JobState, JobStore, StoredJob } from '../store/store.ts'
import { jobsPath, keepPath, keptClientField } from '../wire/kept.ts'
import { authorizer } from '../wire/token.ts'
import type { ClusterView } from './cluster-view.ts'
import { documentOf, type JobDocument, pathOf, retryAfterS } from './documents.ts'
import { followJob } from './job-events.ts'
import type { Keeper } from './keeper.ts'
import { isKeptId } from './kept-id.ts'
import { readOrder } from './read-order.ts'
import { json, KeeperProblem, problemOf, refuse } from './responses.ts'
import { targetProblem } from './webhooks/targets.ts'

export interface KeeperServerParts {
  /** Undefined: another cluster leads, or the store cannot be reached. Then jobs can be read only. */
  keeper(): Keeper | undefined
  store: JobStore
  view: ClusterView
  token: string
  /** Where webhooks may go. */
  webhookHosts: readonly string[]
  now(): number
  log(line: string): void
}

/** How long the store fails, until it has once. */
const guessedOutageMs = 2_000

export function keeperServer(parts: KeeperServerParts): Server {
  const isAuthorized = authorizer(parts.token)
  const outage = new RecoveryTime(guessedOutageMs, parts.now)
  return createServer({ requestTimeout: 0, highWaterMark: 256 * 1024 }, (request, response) => {
    if (!isAuthorized(request.headers.authorization))
      return refuse(response, new KeeperProblem(403, 'forbidden', 'Only for fronts of the cluster.'))
    // Who asks may leave at any time.
    response.on('error', () => {})
    handle(parts, request, response).then(
      () => outage.ends(),
      (error: Error) => {
        const problem = problemOf(error, parts.log)
        if (problem.status === 503) outage.begins()
        refuse(response, problem, problem.status === 503 ? outage.retryAfterMs() : undefined)
      },
    )
  })
}

async function handle(
  parts: KeeperServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://keeper')
  if (path === keepPath) return keep(parts, request, response)
  const client = String(request.headers[keptClientField] ?? '')
  if (path === jobsPath) {
    allow(request, ['GET', 'HEAD'])
    return list(parts, client, query, response)
  }
  const [id = '', part, ...more] = path.slice(jobsPath.length + 1).split('/')
  const job = isKeptId(id) && more.length === 0 ? await parts.store.job(id) : undefined
  // Nobody learns of jobs of others.
  if (!job || job.client !== client)
    throw new KeeperProblem(404, 'unknown-job', `There is no job ${id.slice(0, 100)}, or it is not yours.`)
  if (part === undefined && request.method === 'DELETE') return cancel(parts, job, response)
  if (part === undefined) allow(request, ['GET', 'HEAD', 'DELETE'])
  else allow(request, ['GET', 'HEAD'])
  if (part === undefined) return json(response, 200, await describe(parts, job), headersOf(parts, job))
  if (part === 'result') return result(parts, job, response)
  if (part === 'events')
    return followJob(
      {
        ...{ id, store: parts.store, describe: (each) => describe(parts, each) },
        ended: () => parts.keeper()?.ended(id) ?? never,
      },
      request,
      response,
    )
  throw new KeeperProblem(
    404,
    'not-found',
    `There is nothing at ${path.slice(0, 200)}; a job has /result and /events.`,
  )
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
  if (!methods.includes(method))
    throw new KeeperProblem(
      405,
      'wrong-method',
      `${method} is not allowed here; allowed: ${methods.join(', ')}.`,
    )
}

async function keep(
  parts: KeeperServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { store, webhookHosts, now } = parts
  const keeper = leading(parts)
  const { order, body } = await readOrder(request)
  const problem = order.webhook === undefined ? undefined : targetProblem(order.webhook, webhookHosts)
  if (problem !== undefined)
    throw new KeeperProblem(
      422,
      'bad-webhook',
      `Plimsoll-Webhook = ${order.webhook?.slice(0, 200)}: ${problem}.`,
    )
  const kept = await keeper.keep(order, body)
  if (!kept)
    throw new KeeperProblem(
      422,
      'key-used',
      'This Idempotency-Key was used for another request: its method, URL, type or body differs.',
    )
  const { id, ended, isRepeat } = kept
  await within(ended, order.waitMs, response)
  if (response.destroyed) return
  const job = await store.job(id)
  if (!job) throw new KeeperProblem(410, 'result-gone', `Job ${id} is not remembered any more.`)
  const fields = {
    ...(order.applied !== undefined && { 'preference-applied': order.applied }),
    ...(isRepeat && { 'plimsoll-repeated': 'true' }),
  }
  if (job.state === 'answered')
    return sendResult(store, job, response, { ...fields, 'content-location': `${pathOf(id)}/result` })
  if (job.state === 'cancelled') throw cancelled(id)
  json(response, 202, documentOf(job, keeper.standing(id), undefined), {
    ...fields,
    location: pathOf(id),
    'retry-after': `${retryAfterS(job, now())}`,
  })
}

/** Resolves when the job has ended, the time is over or nobody waits any longer. `limitMs`: null for no limit. */
async function within(ended: Promise<void>, limitMs: number | null, response: ServerResponse): Promise<void> {
  if (limitMs === 0) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    response.once('close', resolve)
    if (limitMs !== null) timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([ended, over])
  clearTimeout(timer)
}

const states: readonly JobState[] = ['open', 'answered', 'cancelled']
const [usualPage, longestPage] = [50, 1_000]

async function list(
  parts: KeeperServerParts,
  client: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const known = ['state', 'workload', 'cursor', 'limit']
  for (const name of query.keys())
    if (!known.includes(name))
      throw new KeeperProblem(
        400,
        'bad-request',
        `${name.slice(0, 100)}: unknown; allowed: ${known.join(', ')}.`,
      )
  const state = query.get('state')
  if (state !== null && !states.includes(state as JobState))
    throw new KeeperProblem(
      400,
      'bad-request',
      `state = ${state.slice(0, 100)}: must be one of ${states.join(', ')}.`,
    )
  const limit = Number(query.get('limit') ?? usualPage)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= longestPage))
    throw new KeeperProblem(400, 'bad-request', `limit: must be a whole number from 1 to ${longestPage}.`)
  const [workload, cursor] = [query.get('workload'), query.get('cursor')]
  const page = await parts.store.list({
    ...{ client, limit },
    ...(state !== null && { state: state as JobState }),
    ...(workload !== null && { workload }),
    ...(cursor !== null && { cursor }),
  })
  const jobs = await Promise.all(page.jobs.map((job) => describe(parts, job)))
  json(response, 200, { jobs, ...(page.cursor !== undefined && { cursor: page.cursor }) })
}

async function describe({ keeper, view }: KeeperServerParts, job: StoredJob): Promise<JobDocument> {
  const open = job.state === 'open' ? keeper()?.standing(job.id) : undefined
  const place = open?.job === undefined ? undefined : await view.place(open.job)
  return documentOf(job, open, place)
}

/** Says how much work is saved: what the job had still been expected to need. */
async function cancel(parts: KeeperServerParts, job: StoredJob, response: ServerResponse): Promise<void> {
  const { store } = parts
  const keeper = leading(parts)
  const before = await describe(parts, job)
  const facts = {
    ...(before.progress && { done: before.progress.done, saved: before.progress.remaining }),
    was: before.state,
  }
  await keeper.cancel(job.id, facts)
  const after = (await store.job(job.id)) ?? job
  if (after.state === 'answered')
    throw new KeeperProblem(
      409,
      'already-answered',
      `Job ${job.id} has an answer: it cannot be cancelled any more.`,
    )
  json(response, 200, await describe(parts, after))
}

async function result(parts: KeeperServerParts, job: StoredJob, response: ServerResponse): Promise<void> {
  if (job.state === 'answered') return sendResult(parts.store, job, response, {})
  if (job.state === 'cancelled') throw cancelled(job.id)
  const document = await describe(parts, job)
  json(response, 202, document, { location: pathOf(job.id), ...headersOf(parts, job) })
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
  response.writeHead(kept.status, { 'content-length': `${kept.bytes}` })
  if (response.req.method === 'HEAD') return void response.end()
  await pipeline(Readable.from(kept.body), response).catch(() => response.destroy())
}

function cancelled(id: string): KeeperProblem {
  return new KeeperProblem(410, 'cancelled', `Job ${id} was cancelled, and has no result.`)
}

function headersOf({ now }: KeeperServerParts, job: StoredJob): Record<string, string> {
  return job.state === 'open' ? { 'retry-after': `${retryAfterS(job, now())}` } : {}
}
