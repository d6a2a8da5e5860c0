/** Sends a kept request to a front, as its client would have. */

import { request as call, type IncomingMessage } from 'node:http'
import type { StoredJob } from '../store/store.ts'
import { type Field, keptClientField, keptRefusalField, keptTokenField } from '../wire/kept.ts'
import { endToEnd, pairsOf } from '../wire/raw-headers.ts'
import { bearer } from '../wire/token.ts'

export interface SendParts {
  /** Of a front's server for the keeper. */
  port: number
  token: string
  job: Pick<StoredJob, 'method' | 'target' | 'fields' | 'client' | 'bodyBytes'>
  /** Undefined: it has none. */
  body: AsyncIterable<Uint8Array> | undefined
  signal: AbortSignal
  /** The cluster knows the job by this id. Called again when it gets another one. */
  onJob(id: string): void
}

export interface JobResponse {
  status: number
  fields: Field[]
  body: AsyncIterable<Uint8Array>
  /** The code of the problem with which the cluster itself refused it. */
  refusal?: string
  /** Seconds. */
  retryAfter?: number
}

/** True: the front was not reached, so the request had no effect. */
export function isUnreached(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
}

/** Rejects if the front cannot be reached or breaks off. So does the body. */
export async function sendJob({ port, token, job, body, signal, onJob }: SendParts): Promise<JobResponse> {
  const fields = [
    ...job.fields.filter(([name]) => name.toLowerCase() !== 'content-length'),
    ...(job.bodyBytes > 0 ? [['content-length', `${job.bodyBytes}`] as const] : []),
    ['plimsoll-announce', 'job'] as const,
    [keptClientField, job.client] as const,
    [keptTokenField, bearer(token)] as const,
  ]
  const sending = call({
    ...{ host: '127.0.0.1', port, method: job.method, path: job.target, agent: false, signal },
    setHost: false,
    headers: fields.flat(),
  })
  sending.on('information', ({ headers }) => {
    const id = headers['plimsoll-job']
    if (typeof id === 'string') onJob(id)
  })
  const answered = Promise.withResolvers<IncomingMessage>()
  // Also after the answer, when nobody listens to it any more.
  sending.on('error', answered.reject)
  sending.once('response', answered.resolve)
  void write(sending, body).catch((error) => sending.destroy(error))
  return responseOf(await answered.promise)
}

async function write(
  sending: ReturnType<typeof call>,
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  for await (const chunk of body ?? []) {
    if (sending.destroyed) return
    if (!sending.write(chunk))
      await new Promise((resolve) => sending.once('drain', resolve).once('close', resolve))
  }
  sending.end()
}

function responseOf(answer: IncomingMessage): JobResponse {
  const { statusCode: status = 502, headers, rawHeaders } = answer
  const refusal = headers[keptRefusalField]
  const retryAfter = Number(headers['retry-after'])
  return {
    status,
    fields: pairsOf(endToEnd(rawHeaders)).filter(([name]) => !isOwn(name.toLowerCase())),
    body: answer,
    ...(typeof refusal === 'string' && { refusal }),
    ...(retryAfter >= 0 && { retryAfter }),
  }
}

/** `date` and `content-length` are set again whenever the answer is sent. */
function isOwn(name: string): boolean {
  return name === keptRefusalField || name === 'date' || name === 'content-length'
}
