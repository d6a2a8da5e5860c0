/** Turns an estimated request into a job and submits it, unless its answer is cached or already being computed. */

import type { IncomingMessage } from 'node:http'
import type { Job } from '../../model/job.ts'
import type { FrontLimits } from '../../wire/front-settings.ts'
import { cacheControlOf } from '../cache/answer-key.ts'
import type { RepeatedAnswers } from '../cache/repeated-answers.ts'
import type { ExchangeParts } from '../exchange.ts'
import { RequestProblem } from '../problem.ts'
import type { Receiver } from '../receiver.ts'
import type { ClientNamer } from './client-name.ts'
import { newJobId } from './job-id.ts'
import type { EstimatedRequest } from './request.ts'
import type { Incoming, JobFacts } from './target.ts'

/** A job with its request, its way to a worker and its receiver. */
export type Submission = Omit<ExchangeParts, 'tell' | 'ended' | 'token' | 'log'>

export interface SubmitParts {
  limits: Pick<FrontLimits, 'exposeErrors'>
  clientOf: ClientNamer
  /** The clock of deadlines. */
  now(): number
  /** Undefined: answers are neither cached nor shared. */
  repeats?: RepeatedAnswers | undefined
  submit(submission: Submission): void
}

/** `maxCpuMs`: CPU time that an attempt may use. */
export async function submitRequest(
  parts: SubmitParts,
  { target, body, question, quote, estimateMs }: EstimatedRequest,
  { request, client }: Incoming,
  maxCpuMs = Infinity,
): Promise<void> {
  try {
    const job = jobOf(parts, request, target.name, target.jobFacts(quote))
    if (request.headers['plimsoll-announce'] === 'job') client.announce(job.id)
    const { params, hasBody } = target
    const isCapped = maxCpuMs < Infinity
    const start = (job: Job, receiver: Receiver) => {
      const transport = target.transport(receiver)
      const { exposeErrors } = parts.limits
      parts.submit({
        ...{ job, question, quote, params, hasBody, transport, receiver, estimateMs, exposeErrors },
        ...(isCapped && { maxCpuMs }),
      })
    }
    const control = cacheControlOf(request)
    const repeat = parts.repeats?.takes(job, control) ? target.repeat() : undefined
    if (repeat)
      return await parts.repeats!.serve({ repeat, body, job, client, control, start, alone: isCapped })
    client.onGone(() => body.discard())
    if (client.gone) return body.discard()
    start(job, client)
  } catch (error) {
    body.discard()
    throw error
  }
}

function jobOf(parts: SubmitParts, request: IncomingMessage, workload: string, facts: JobFacts): Job {
  const { work, low, high, unproven, memoryMb, lane, preemptible, safeToRepeat } = facts
  const deadlineMs = deadline(request) ?? facts.deadlineMs
  return {
    id: newJobId(),
    workload,
    ...{ work, low, high, memoryMb },
    client: parts.clientOf(request),
    ...(lane !== undefined && { lane }),
    ...(deadlineMs !== undefined && { deadlineAt: parts.now() + deadlineMs }),
    ...(!safeToRepeat && { safeToRepeat: false }),
    ...(preemptible ? unproven && { unproven } : { preemptible: false }),
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
