/** A worker's own port: fronts send attempts here, and get the answer with what it cost. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AnswerBroken } from '../errors.ts'
import { type AttemptHead, type AttemptOutcome, attemptPath, headers } from '../wire/messages.ts'
import { isAuthorized } from '../wire/token.ts'
import type { AnswerHead } from './frames.ts'
import type { Usage } from './held.ts'
import type { SlotAnswer } from './slots.ts'
import type { Supervisor, Taken } from './supervisor.ts'

/** Answers up to this size are sent when all is over, so that their cost stands in the head. */
const wholeBytes = 256 * 1024
const longestHead = 16 * 1024 * 1024

/** `ready` resolves when the worker has been welcomed and knows its discipline. */
export function attemptServer(supervisor: Supervisor, token: string, ready: Promise<void>): Server {
  const server = createServer((request, response) => {
    serve(supervisor, token, ready, request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else refuse(response, 'refused', error.message)
    })
  })
  // Jobs may take as long as they like; the front and the brain have limits of their own.
  server.requestTimeout = 0
  server.headersTimeout = 10_000
  server.timeout = 0
  server.keepAliveTimeout = 60_000
  return server
}

async function serve(
  supervisor: Supervisor,
  token: string,
  ready: Promise<void>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isAuthorized(request.headers.authorization, token)) {
    response.writeHead(401).end()
    return
  }
  if (request.method !== 'POST' || request.url !== attemptPath) {
    response.writeHead(404).end()
    return
  }
  await ready
  const head = await readHead(request)
  const taken = supervisor.take(head, request)
  if ('refused' in taken) return refuse(response, 'refused', taken.refused)
  // The front lets go of an attempt that nobody waits for any more.
  response.on('close', () => {
    if (!response.writableFinished) taken.cancel()
  })
  if (response.destroyed) taken.cancel()
  await answer(taken, response)
}

async function readHead(request: IncomingMessage): Promise<AttemptHead> {
  const bytes = Number(request.headers[headers.headBytes])
  if (!(Number.isInteger(bytes) && bytes > 0 && bytes <= longestHead)) {
    throw new Error(`${headers.headBytes}: must be a whole number from 1 to ${longestHead}`)
  }
  const chunks: Buffer[] = []
  let have = 0
  while (have < bytes) {
    const chunk: Buffer | null = request.read()
    if (chunk === null) {
      if (request.readableEnded || request.destroyed) throw new Error('the attempt broke off')
      await new Promise<void>((resolve) => {
        const go = () => {
          request.off('readable', go).off('end', go).off('close', go)
          resolve()
        }
        request.on('readable', go).on('end', go).on('close', go)
      })
      continue
    }
    chunks.push(chunk)
    have += chunk.length
  }
  const all = Buffer.concat(chunks)
  if (have > bytes) request.unshift(all.subarray(bytes))
  return JSON.parse(all.toString('utf8', 0, bytes)) as AttemptHead
}

async function answer(taken: Taken, response: ServerResponse): Promise<void> {
  const result: SlotAnswer = await taken.answer
  if (result.kind !== 'result') {
    const usage = await taken.usage
    const message = result.kind === 'cancelled' ? 'cancelled' : result.message
    const status = result.kind === 'error' ? (result.status ?? 500) : 500
    refuse(response, result.kind, message, { status, ...measured(usage) })
    return
  }
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
  response.writeHead(result.status, { ...fields, trailer: measures.join(', ') })
  await pipeline(async function* () {
    yield* first
    yield* result.body
    response.addTrailers(measured(await taken.usage))
  }, response)
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

function measured({ work, tally, cpuMs, wallMs, peakMemoryMb }: Usage): Record<string, string> {
  return {
    [headers.work]: `${Math.round(work)}`,
    ...(tally && { [headers.tally]: JSON.stringify(tally) }),
    [headers.cpuMs]: cpuMs.toFixed(3),
    [headers.wallMs]: wallMs.toFixed(3),
    [headers.peakMemoryMb]: peakMemoryMb.toFixed(1),
  }
}

function refuse(
  response: ServerResponse,
  outcome: AttemptOutcome,
  message: string,
  { status = 500, ...fields }: { status?: number; [name: string]: string | number | undefined } = {},
): void {
  const body = JSON.stringify({ message, status })
  response.writeHead(outcome === 'refused' ? 503 : 500, {
    ...fields,
    [headers.outcome]: outcome,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
