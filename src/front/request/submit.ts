/** Makes a job of what a request asks for, and hands it over to whoever sees to it that it is answered. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Estimate } from '../../model/estimate.ts'
import type { Job } from '../../model/job.ts'
import type { Quantity } from '../../model/metering.ts'
import { wishOf } from '../cache/answer-key.ts'
import type { RepeatedAnswers } from '../cache/repeated-answers.ts'
import type { ExchangeParts } from '../exchange.ts'
import { RequestProblem } from '../problem.ts'
import { Client, type Receiver } from '../recipient.ts'
import { HttpTransport } from '../transports/http-transport.ts'
import { WorkloadTransport } from '../transports/workload-transport.ts'
import type { Asked } from './ask.ts'
import { type AskedRoute, isSafeToRepeat, type RouteParts } from './ask-route.ts'
import type { ClientNamer } from './client-name.ts'
import { newJobId } from './job-id.ts'
import { requestHeaders } from './raw-headers.ts'

export interface SubmitParts {
  clientOf: ClientNamer
  /** The cluster's own time, on which deadlines stand. */
  now(): number
  limits: { stallMs: number; holdMs: number }
  /** Where answers may be given again, or shared. */
  repeats?: RepeatedAnswers | undefined
  /** What answers say of their cost in headers of their own. Default: nothing. */
  quantities?: readonly Quantity[]
  submit(parts: Omit<ExchangeParts, 'tell' | 'over' | 'token'>): void
}

export async function submitWorkload(
  parts: SubmitParts,
  asked: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { workload, params, checked, body, sendBody, question, quote, estimateMs } = asked
  try {
    const { name, preemptible, deadlineMs } = workload
    const lane = workload.lane?.(checked)
    const job = jobOf(
      parts,
      request,
      name,
      { ...quote, deadlineMs, preemptible, ...(lane !== undefined && { lane }) },
      workload.safeToRepeat(checked),
    )
    const hasBody = sendBody && body.bytes > 0
    const start = (job: Job, receiver: Receiver) => {
      const { quantities = [] } = parts
      const transport = new WorkloadTransport({ params, body, sendBody, receiver, quantities })
      parts.submit({ job, question, quote, params, hasBody, transport, recipient: receiver, estimateMs })
    }
    const client = new Client(response, parts.limits.stallMs)
    const wish = wishOf(request)
    if (parts.repeats?.takes(asked, job, wish)) {
      return await parts.repeats.serve({ asked, job, client, wish, start })
    }
    client.onGone(() => void body.discard())
    if (client.gone) return void body.discard()
    start(job, client)
  } catch (error) {
    await body.discard()
    throw error
  }
}

/** With a socket: the client wants to switch protocols on it. */
export function submitRoute(
  parts: SubmitParts,
  routes: RouteParts,
  { route, method, target, body, question, quote, estimateMs }: AskedRoute,
  request: IncomingMessage,
  response: ServerResponse,
  socket?: Socket,
): void {
  try {
    const { name, deadlineMs } = route
    const inMicroseconds = (work: number) => routes.inMicroseconds(name, work)
    const facts = {
      work: inMicroseconds(quote.work),
      low: inMicroseconds(quote.low),
      high: inMicroseconds(quote.high),
      memoryMb: quote.memoryMb,
      deadlineMs,
      preemptible: route.preemptible && routes.preemptible,
    }
    const job = jobOf(parts, request, name, facts, isSafeToRepeat(route, method, request))
    response.on('close', () => body.discard())
    if (response.destroyed) return body.discard()
    const http = {
      method,
      target: target.text,
      headers: requestHeaders(request, socket !== undefined),
      ...(socket && { upgrade: true as const }),
    }
    const { stallMs, holdMs } = parts.limits
    const transport = new HttpTransport({ http, body, response, stallMs, holdMs, ...(socket && { socket }) })
    const params = { method, target: target.text }
    const hasBody = body.announced !== 0
    const recipient = new Client(response, stallMs)
    parts.submit({ job, question, quote, params, hasBody, transport, recipient, estimateMs })
  } catch (error) {
    body.discard()
    throw error
  }
}

interface JobFacts extends Pick<Estimate, 'work' | 'low' | 'high'> {
  memoryMb: number
  /** Of requests that name none. */
  deadlineMs: number | undefined
  preemptible: boolean
  lane?: string
}

function jobOf(
  parts: SubmitParts,
  request: IncomingMessage,
  workload: string,
  { work, low, high, memoryMb, deadlineMs: usual, preemptible, lane }: JobFacts,
  safeToRepeat: boolean,
): Job {
  const deadlineMs = deadline(request) ?? usual
  return {
    id: newJobId(),
    workload,
    ...{ work, low, high, memoryMb },
    client: parts.clientOf(request),
    ...(lane !== undefined && { lane }),
    ...(deadlineMs !== undefined && { deadlineAt: parts.now() + deadlineMs }),
    ...(!safeToRepeat && { safeToRepeat: false }),
    ...(!preemptible && { preemptible: false }),
  }
}

/** Milliseconds from now, as a number in the `plimsoll-deadline` header. */
function deadline(request: IncomingMessage): number | undefined {
  const given = request.headers['plimsoll-deadline']
  if (given === undefined) return undefined
  const ms = Number(given)
  if (typeof given === 'string' && given.trim() !== '' && ms > 0 && ms < Infinity) return ms
  throw new RequestProblem(
    400,
    'bad-deadline',
    `plimsoll-deadline = ${String(given).slice(0, 100)}: must be a number of milliseconds, more than 0.`,
  )
}
