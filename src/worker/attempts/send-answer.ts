/** Sends the answer of an attempt to the front, with its cost. */
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AnswerBroken } from '../../lib/errors.ts'
import { type AttemptOutcome, type FailedAttempt, headers } from '../../wire/messages.ts'
import type { Usage } from '../attempt-state.ts'
import type { JobAnswer, JobFailure } from '../job-run.ts'
import { fieldsOf } from '../slots/answer-fields.ts'
import type { AcceptedAttempt } from '../supervisor.ts'

/** Answers up to this size are sent when the job has ended, with the cost in the head. */
const wholeBytes = 256 * 1024

type WorkloadResult = Extract<JobAnswer, { kind: 'result' }>

/** Sends the result of a workload: its status, headers and body. */
export async function sendResult(
  result: WorkloadResult,
  attempt: AcceptedAttempt,
  response: ServerResponse,
): Promise<void> {
  if (result.streamed) return streamResult(result, attempt, response)
  const fields = { ...fieldsOf(result), [headers.outcome]: 'result' }
  const first: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of result.body.iterator({ destroyOnReturn: false })) {
      first.push(chunk)
      bytes += chunk.length
      if (bytes > wholeBytes) break
    }
  } catch (error) {
    // Nothing was sent yet, so the failure is sent instead of the answer.
    if (!(error instanceof AnswerBroken)) throw error
    return sendOutcome(response, error.kind, { message: error.message }, usageHeaders(await attempt.usage))
  }
  if (bytes <= wholeBytes) {
    const usage = await attempt.usage
    const length = result.status === 204 || result.status === 304 ? {} : { 'content-length': bytes }
    response.writeHead(result.status, { ...fields, ...usageHeaders(usage), ...length })
    response.end(Buffer.concat(first))
    return
  }
  await streamResult(result, attempt, response, first)
}

/** Sends the head and the first chunks at once, then each chunk as it arrives, then the cost as trailers. */
async function streamResult(
  result: WorkloadResult,
  attempt: AcceptedAttempt,
  response: ServerResponse,
  first: readonly Buffer[] = [],
): Promise<void> {
  response.writeHead(result.status, {
    ...fieldsOf(result),
    [headers.outcome]: 'result',
    ...(result.streamed && { [headers.streamed]: '1' }),
    trailer: [...usageNames, headers.outcome, headers.failure].join(', '),
  })
  response.flushHeaders()
  await pipeline(async function* () {
    yield* first
    const outcome = yield* untilBroken(result.body)
    response.addTrailers({ ...usageHeaders(await attempt.usage), ...outcome })
  }, response)
}

/** Trailers have a limited size. */
const longestFailure = 1_000

/** Yields the body. Returns trailers with the outcome if the body fails. */
async function* untilBroken(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, Record<string, string>> {
  try {
    yield* body
    return {}
  } catch (error) {
    if (!(error instanceof AnswerBroken)) throw error
    return brokenTrailers(error)
  }
}

/** The trailers of an answer that broke off. */
export function brokenTrailers({ kind, message }: AnswerBroken): Record<string, string> {
  const shown = encodeURIComponent(message.slice(0, longestFailure).toWellFormed())
  return { [headers.outcome]: kind, [headers.failure]: shown }
}

export async function sendFailure(
  result: JobFailure,
  { usage }: AcceptedAttempt,
  response: ServerResponse,
): Promise<void> {
  const message = result.kind === 'cancelled' ? 'cancelled' : result.message
  const { status = 500 } = 'status' in result ? result : {}
  const stack = result.kind === 'error' ? result.stack : undefined
  sendOutcome(response, result.kind, { message, status, stack }, usageHeaders(await usage))
}

export const usageNames = [headers.work, headers.tally, headers.cpuMs, headers.wallMs, headers.peakMemoryMb]

export function usageHeaders({
  work,
  tally,
  quantities,
  measure,
  cpuMs,
  wallMs,
  peakMemoryMb,
}: Usage): Record<string, string> {
  return {
    // A program may report its work in units of any size.
    [headers.work]: measure === 'header' ? `${work}` : `${Math.round(work)}`,
    ...(tally && { [headers.tally]: JSON.stringify(tally) }),
    ...(quantities &&
      Object.fromEntries(
        Object.entries(quantities).map(([name, amount]) => [name, `${Math.round(amount)}`]),
      )),
    ...(measure && { [headers.measure]: measure }),
    [headers.cpuMs]: cpuMs.toFixed(3),
    [headers.wallMs]: wallMs.toFixed(3),
    [headers.peakMemoryMb]: peakMemoryMb.toFixed(1),
  }
}

export function sendOutcome(
  response: ServerResponse,
  outcome: AttemptOutcome,
  { message, status = 500, stack }: FailedAttempt,
  fields: Record<string, string> = {},
): void {
  const body = JSON.stringify({ message, status, stack })
  response.writeHead(outcome === 'refused' ? 503 : outcome === 'throttled' ? 429 : 500, {
    ...fields,
    [headers.outcome]: outcome,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
