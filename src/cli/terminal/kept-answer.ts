/** The answer of a request that the cluster keeps as a job, because it is expected to take long. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Client } from './client.ts'
import { followKeptJob } from './follow-kept-job.ts'

/** The keeper or a front is restarted. */
const againMs = 1_000

export interface KeptOptions {
  headers: Record<string, string>
  signal: AbortSignal
  /** The request is kept as this job. */
  isKept(id: string): void
}

/** Follows the job until it has ended. Resolves with the same answer if it is not a kept job. */
export async function keptAnswer(
  connection: Client,
  answer: Answer,
  { headers, signal, isKept }: KeptOptions,
): Promise<Answer> {
  const path = answer.headers.location
  const id = /^\/-\/jobs\/([^/?#]+)$/.exec(path ?? '')?.[1]
  if (answer.status !== 202 || id === undefined || answer.headers['plimsoll-job'] !== undefined) return answer
  await answer.body.dump()
  isKept(id)
  await followKeptJob(connection, { path: `${path}/events`, headers, signal })
  for (;;) {
    const result = await connection.send({ method: 'GET', path: `${path}/result`, headers, signal })
    if (isResult(result) || (result.status !== 202 && result.status !== 503)) return result
    await result.body.dump()
    await delay(againMs, undefined, { signal })
  }
}

/** False: it is an answer of the keeper itself, in place of the job's. */
export function isResult({ headers }: Answer): boolean {
  return headers['content-location'] !== undefined
}
