/** Sends the answer to an attempt, with what it cost. */
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AnswerBroken } from '../lib/errors.ts'
import { type AttemptOutcome, headers } from '../wire/messages.ts'
import type { Usage } from './held.ts'
import type { AnswerHead } from './slots/frames.ts'
import type { FailedAnswer, SlotAnswer } from './slots/slot-run.ts'
import type { Taken } from './supervisor.ts'

/** Answers up to this size are sent when all is over, so that their cost stands in the head. */
const wholeBytes = 256 * 1024

type Workloads = Extract<SlotAnswer, { kind: 'result' }>
type Programs = Extract<SlotAnswer, { kind: 'http' }>

/** Of a workload: its status, its headers, its body. */
export async function sendResult(result: Workloads, taken: Taken, response: ServerResponse): Promise<void> {
  const fields = fieldsOf(result)
  const first: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of result.body.iterator({ destroyOnReturn: false })) {
      first.push(chunk)
      bytes += chunk.length
      if (bytes > wholeBytes) break
    }
  } catch (error) {
    // Nothing of the answer has been given away: it failed as if it had not begun.
    if (!(error instanceof AnswerBroken)) throw error
    return refuse(response, error.kind, error.message, measured(await taken.usage))
  }
  if (bytes <= wholeBytes) {
    const usage = await taken.usage
    const length = result.status === 204 || result.status === 304 ? {} : { 'content-length': bytes }
    response.writeHead(result.status, { ...fields, ...measured(usage), ...length })
    response.end(Buffer.concat(first))
    return
  }
  response.writeHead(result.status, { ...fields, trailer: [...measures, headers.outcome].join(', ') })
  await pipeline(async function* () {
    yield* first
    const outcome = yield* untilBroken(result.body)
    response.addTrailers({ ...measured(await taken.usage), ...outcome })
  }, response)
}

/** What comes of a body. If it breaks off, the trailer that says how is returned. */
async function* untilBroken(
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, Partial<Record<typeof headers.outcome, AttemptOutcome>>> {
  try {
    yield* body
    return {}
  } catch (error) {
    if (!(error instanceof AnswerBroken)) throw error
    return { [headers.outcome]: error.kind }
  }
}

/** Of a program: its head as the first bytes, then its body as it comes. If that breaks off, the trailers say how. */
export async function sendHttp(result: Programs, taken: Taken, response: ServerResponse): Promise<void> {
  const head = Buffer.from(JSON.stringify(result.head))
  response.writeHead(200, {
    [headers.outcome]: 'result',
    [headers.headBytes]: head.length,
    trailer: [...measures, headers.measure, headers.trailers, headers.outcome].join(', '),
  })
  await pipeline(async function* () {
    yield head
    const outcome = yield* untilBroken(result.body)
    const sent = result.trailers()
    response.addTrailers({
      ...measured(await taken.usage),
      ...(sent.length > 0 && { [headers.trailers]: JSON.stringify(sent) }),
      ...outcome,
    })
  }, response)
}

export async function sendFailure(
  result: FailedAnswer,
  { usage }: Taken,
  response: ServerResponse,
): Promise<void> {
  const message = result.kind === 'cancelled' ? 'cancelled' : result.message
  const status = result.kind === 'error' ? (result.status ?? 500) : 500
  refuse(response, result.kind, message, { status, ...measured(await usage) })
}

/** Headers that say how a message is sent: they are not a workload's to choose. */
const reserved: ReadonlySet<string> = new Set([
  ...Object.values(headers),
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
])

function fieldsOf({ headers: own, contentType }: AnswerHead): Record<string, string> {
  const kept = Object.entries(own).filter(([name]) => !reserved.has(name.toLowerCase()))
  return {
    ...Object.fromEntries(kept),
    ...(contentType !== '' && { 'content-type': contentType }),
    [headers.outcome]: 'result',
  }
}

const measures = [headers.work, headers.tally, headers.cpuMs, headers.wallMs, headers.peakMemoryMb]

function measured({
  work,
  tally,
  told,
  measure,
  cpuMs,
  wallMs,
  peakMemoryMb,
}: Usage): Record<string, string> {
  return {
    // What a program says itself may be in units of any size.
    [headers.work]: measure === 'header' ? `${work}` : `${Math.round(work)}`,
    ...(tally && { [headers.tally]: JSON.stringify(tally) }),
    ...(told &&
      Object.fromEntries(Object.entries(told).map(([name, amount]) => [name, `${Math.round(amount)}`]))),
    ...(measure && { [headers.measure]: measure }),
    [headers.cpuMs]: cpuMs.toFixed(3),
    [headers.wallMs]: wallMs.toFixed(3),
    [headers.peakMemoryMb]: peakMemoryMb.toFixed(1),
  }
}

export function refuse(
  response: ServerResponse,
  outcome: AttemptOutcome,
  message: string,
  { status = 500, ...fields }: { status?: number; [name: string]: string | number | undefined } = {},
): void {
  const body = JSON.stringify({ message, status })
  response.writeHead(outcome === 'refused' ? 503 : outcome === 'throttled' ? 429 : 500, {
    ...fields,
    [headers.outcome]: outcome,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
