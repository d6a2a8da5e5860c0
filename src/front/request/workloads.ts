/** Workloads as targets: `/NAME`, with parameters in the query, a form or a JSON body. The body is read whole first. */

import type { IncomingMessage } from 'node:http'
import { brainEstimate } from '../../estimate/brain-estimate.ts'
import type { Questioner } from '../../estimate/question.ts'
import type { Quantity } from '../../model/metering.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { Workload } from '../../workload/workload.ts'
import { answerKey } from '../cache/answer-key.ts'
import { allow, RequestProblem } from '../problem.ts'
import { WorkloadTransport } from '../transports/workload.ts'
import type { Body, BodyOptions } from './body.ts'
import type { ReadParams } from './params.ts'
import { asData, givenParams, mostParamsBytes, paramsFormat } from './params-body.ts'
import { type ParamsReader, paramsReader, type StartParamsThread } from './params-reader.ts'
import type { Asked, Service, TargetRequest } from './target.ts'
import { type RequestUrl, unreadable } from './url.ts'

export interface WorkloadServiceParts {
  workloads: ReadonlyMap<string, Workload>
  /** Their modules. */
  files: readonly string[]
  /** Hashes of their code. */
  code: Readonly<Record<string, string>>
  question: Questioner
  limits: FrontLimits
  /** Quantities that answers report in headers. */
  quantities: readonly Quantity[]
  log(line: string): void
  startThread?: StartParamsThread | undefined
}

export function workloadService(parts: WorkloadServiceParts): Service {
  const { workloads, limits, files, code, log, startThread } = parts
  const read = paramsReader({ files, code, ask: parts.question, log, startThread })
  return {
    // The server's limit for whole requests covers bodies too.
    requestMs: limits.requestMs,
    upgrades: false,
    list: () =>
      [...workloads.values()].map(({ name, description }) => ({ name, description, path: `/${name}` })),
    find(asked) {
      const workload = find(workloads, asked.url)
      allow(asked.method, ['GET', 'HEAD', 'POST'])
      return {
        body: bodyOptions(workload, asked, limits),
        read: (body, clientName) => readTarget(parts, read, workload, { ...asked, body, clientName }),
      }
    },
    quotedMethod: ({ method = '' }: IncomingMessage) => method,
  }
}

function find(workloads: ReadonlyMap<string, Workload>, { path, prefix }: RequestUrl): Workload {
  const workload = workloads.get(decoded(path).slice(1))
  if (workload) return workload
  const names = [...workloads.keys()].map((name) => `${prefix}/${name}`)
  throw new RequestProblem(
    404,
    'unknown-workload',
    `There is no workload at ${`${prefix}${path}`.slice(0, 200)}. There are: ${names.join(', ')}.`,
  )
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw unreadable()
  }
}

/** Nothing of a form or a JSON body is read beyond the limit of the parameters. */
function bodyOptions(workload: Workload, { request, url }: Asked, limits: FrontLimits): BodyOptions {
  const { maxBytes, memoryBytes } = limits
  const most = mostParamsBytes(workload, limits)
  const format = paramsFormat(request)
  const tooLarge = () => paramsTooLarge(workload, most, format === 'form')
  if (url.query.length > most) throw tooLarge()
  return format ? { maxBytes: most - url.query.length, memoryBytes, tooLarge } : { maxBytes, memoryBytes }
}

function paramsTooLarge({ name, maxParamsBytes }: Workload, most: number, isForm: boolean): RequestProblem {
  const raise =
    maxParamsBytes === undefined
      ? 'its definition can allow more with maxParamsBytes, and the operator with --max-params'
      : 'maxParamsBytes in its definition sets the limit'
  return new RequestProblem(
    413,
    'params-too-large',
    `The parameters are larger than the ${most} bytes that workload ${name} allows; ${raise}.${isForm ? ` Or ${asData}.` : ''}`,
    { headers: { connection: 'close' } },
  )
}

async function readTarget(
  { quantities }: WorkloadServiceParts,
  readParams: ParamsReader,
  workload: Workload,
  { request, url, method, body, clientName }: Asked & { body: Body; clientName: string },
): Promise<TargetRequest> {
  await body.has(Infinity)
  const { query } = url
  const format = paramsFormat(request)
  const isParams = format !== undefined
  const given = async () => {
    if (format) return givenParams(format, query, await body.read())
    if (body.bytes === 0) return { query }
    return { query, body: { bytes: body.bytes, head: await body.head() } }
  }
  const bytes = query.length + (isParams ? body.bytes : 0)
  const read = await readParams(workload, { clientName, bytes, given })
  const { question, raw } = read
  // A body with parameters is not sent to the workload as data.
  const data = isParams || body.bytes === 0 ? undefined : body
  return {
    name: workload.name,
    params: raw,
    // As with a body, parameters that are not kept do not identify the request.
    hasBody: data !== undefined || !read.isKept,
    question: () => question,
    jobFacts: (quote) => {
      if (!read.safeToRepeat) requirePost(method)
      return {
        ...brainEstimate(quote),
        memoryMb: quote.memoryMb,
        deadlineMs: workload.deadlineMs,
        preemptible: workload.preemptible,
        safeToRepeat: read.safeToRepeat,
        lane: read.lane,
      }
    },
    repeat: () => repeatOf(workload, read, data),
    transport: (receiver) =>
      new WorkloadTransport({ params: { ...read.text, source: body }, body: data, receiver, quantities }),
  }
}

/** Clients and proxies repeat GET and HEAD on their own. */
function requirePost(method: string): void {
  if (method === 'POST') return
  throw new RequestProblem(
    405,
    'wrong-method',
    `${method} is not allowed for work that must not be repeated; allowed: POST.`,
    { headers: { allow: 'POST' } },
  )
}

function repeatOf(
  { cacheMs = Infinity }: Workload,
  { answer: text, question }: ReadParams,
  body: Body | undefined,
): ReturnType<TargetRequest['repeat']> {
  return text === undefined ? undefined : { cacheMs, key: () => answerKey({ question, text, body }) }
}
