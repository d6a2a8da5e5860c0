/** Runs one attempt in a function's slot, and makes its answer. */

import { Readable } from 'node:stream'
import { AnswerBroken } from '../lib/errors.ts'
import { type AttemptOutcome, type FailedAttempt, headers as names } from '../wire/messages.ts'
import type { Usage } from '../worker/attempt-state.ts'
import { usageHeaders } from '../worker/attempts/send-answer.ts'
import type { JobAnswer } from '../worker/job-run.ts'
import { fieldsOf } from '../worker/slots/answer-fields.ts'
import type { AcceptedAttempt, Supervisor } from '../worker/supervisor.ts'
import { type Invocation, type InvocationAnswer, isTooLong, maxPayloadBytes } from './invocation.ts'
import type { MeasurementStore } from './measurement-store.ts'

export interface AnswerTerms {
  /** Until Lambda ends the function. */
  leftMs: number
  store: MeasurementStore | undefined
}

/** For sending the answer, before Lambda ends the function. */
const sendMs = 300

type WorkloadResult = Extract<JobAnswer, { kind: 'result' }>

export async function answerTo(
  supervisor: Pick<Supervisor, 'take'>,
  { head, limitMs, body }: Invocation,
  { leftMs, store }: AnswerTerms,
): Promise<InvocationAnswer> {
  const startedAt = Date.now()
  // A function cannot ask for permission to start; the brain sends it no job that has to.
  const attempt = supervisor.take(
    { ...head, ask: false },
    { body: Readable.from([Buffer.from(body, 'base64')]) },
  )
  if ('refused' in attempt) return failure('refused', { message: attempt.refused })
  const timeMs = Math.min(limitMs, leftMs - sendMs)
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    attempt.cancel()
  }, timeMs)
  try {
    const answer = await finished(attempt)
    const usage = await attempt.usage
    if (isOver) return failure('timeout', { message: `it ran for ${timeMs} ms` }, usage)
    if (answer.headers[names.outcome] === 'result' && store)
      await storeMeasurement(store, { head, usage, startedAt })
    return { ...answer, headers: { ...answer.headers, ...usageHeaders(usage) } }
  } finally {
    clearTimeout(timer)
  }
}

async function finished(attempt: AcceptedAttempt): Promise<InvocationAnswer> {
  const result = await attempt.answer
  if (result.kind === 'result') return resultOf(result, attempt)
  if (result.kind === 'http' || result.kind === 'upgraded')
    throw new TypeError('a function runs workloads, and no programs')
  const message = result.kind === 'cancelled' ? 'cancelled' : result.message
  return failure(result.kind, { ...result, message })
}

async function resultOf(result: WorkloadResult, attempt: AcceptedAttempt): Promise<InvocationAnswer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of result.body) {
      chunks.push(chunk as Buffer)
      bytes += (chunk as Buffer).length
      if (bytes > maxPayloadBytes) return tooLong(attempt)
    }
  } catch (error) {
    if (!(error instanceof AnswerBroken)) throw error
    return failure(error.kind, { message: error.message })
  }
  const answer: InvocationAnswer = {
    status: result.status,
    headers: { ...fieldsOf(result), [names.outcome]: 'result' },
    body: Buffer.concat(chunks).toString('base64'),
  }
  return isTooLong(answer) ? tooLong(attempt) : answer
}

function tooLong(attempt: AcceptedAttempt): InvocationAnswer {
  attempt.cancel()
  const most = `${maxPayloadBytes / 1024 ** 2} MB`
  return failure('limit', { message: `the answer does not fit into the ${most} that a function may return` })
}

function failure(
  outcome: AttemptOutcome,
  { message, status = 500, stack }: FailedAttempt,
  usage?: Usage,
): InvocationAnswer {
  return {
    status: 500,
    headers: {
      [names.outcome]: outcome,
      'content-type': 'application/json',
      ...(usage && usageHeaders(usage)),
    },
    body: Buffer.from(JSON.stringify({ message, status, stack })).toString('base64'),
  }
}

async function storeMeasurement(
  store: MeasurementStore,
  { head, usage, startedAt }: { head: Invocation['head']; usage: Usage; startedAt: number },
): Promise<void> {
  const { workload, params } = head
  const { work, tally, quantities, cpuMs } = usage
  try {
    await store.store({
      ...{ workload, params, work, cpuMs, startedAt, endedAt: Date.now() },
      ...(tally && { tally }),
      ...(quantities && { quantities }),
    })
  } catch (error) {
    console.error(`the measurement of workload ${workload} was not stored: ${(error as Error).message}`)
  }
}
