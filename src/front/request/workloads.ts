/** Workloads as targets: `/NAME`, with parameters in the query or a JSON body. The body is read whole first. */

import type { IncomingMessage } from 'node:http'
import { brainEstimate } from '../../estimate/brain-estimate.ts'
import type { Questioner } from '../../estimate/question.ts'
import type { Quantity } from '../../model/metering.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import type { Workload } from '../../workload/workload.ts'
import { answerKey } from '../cache/answer-key.ts'
import { allow, RequestProblem } from '../problem.ts'
import { WorkloadTransport } from '../transports/workload.ts'
import type { Body } from './body.ts'
import { isJson, readParameters } from './params.ts'
import type { Asked, Service, TargetRequest } from './target.ts'
import { type RequestUrl, unreadable } from './url.ts'

export interface WorkloadServiceParts {
  workloads: ReadonlyMap<string, Workload>
  question: Questioner
  limits: FrontLimits
  /** Quantities that answers report in headers. */
  quantities: readonly Quantity[]
}

export function workloadService(parts: WorkloadServiceParts): Service {
  const { workloads, limits } = parts
  return {
    // The server's limit for whole requests covers bodies too.
    body: { maxBytes: limits.maxBytes, memoryBytes: limits.memoryBytes },
    requestMs: limits.requestMs,
    upgrades: false,
    list: () =>
      [...workloads.values()].map(({ name, description }) => ({ name, description, path: `/${name}` })),
    find(asked) {
      const workload = find(workloads, asked.url)
      allow(asked.method, ['GET', 'HEAD', 'POST'])
      return { read: (body) => read(parts, workload, asked, body) }
    },
    quotedMethod: ({ method = '' }: IncomingMessage) => method,
  }
}

function find(workloads: ReadonlyMap<string, Workload>, { url, prefix }: RequestUrl): Workload {
  const workload = workloads.get(decoded(url.pathname).slice(1))
  if (workload) return workload
  const names = [...workloads.keys()].map((name) => `${prefix}/${name}`)
  throw new RequestProblem(
    404,
    'unknown-workload',
    `There is no workload at ${`${prefix}${url.pathname}`.slice(0, 200)}. There are: ${names.join(', ')}.`,
  )
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw unreadable()
  }
}

async function read(
  { question, quantities }: WorkloadServiceParts,
  workload: Workload,
  { request, url }: Asked,
  body: Body,
): Promise<TargetRequest> {
  await body.has(Infinity)
  const { raw: params, checked } = await readParameters(workload, request, url.url.searchParams, body)
  // A JSON body holds parameters and is not sent to the workload.
  const data = isJson(request) ? undefined : body
  return {
    name: workload.name,
    params,
    hasBody: data !== undefined && data.bytes > 0,
    question: () => question(workload, checked, data),
    jobFacts: (quote) => ({
      ...brainEstimate(quote),
      memoryMb: quote.memoryMb,
      deadlineMs: workload.deadlineMs,
      preemptible: workload.preemptible,
      safeToRepeat: workload.safeToRepeat(checked),
      lane: workload.lane?.(checked),
    }),
    repeat: (question) =>
      workload.deterministic(checked)
        ? {
            cacheMs: workload.cacheMs ?? Infinity,
            key: () => answerKey({ question, params, checked, body: data }),
          }
        : undefined,
    transport: (receiver) => new WorkloadTransport({ params, body: data, receiver, quantities }),
  }
}
