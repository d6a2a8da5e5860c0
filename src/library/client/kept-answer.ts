/** Waits for the answer of a request that the cluster keeps as a job, because it is expected to take long. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Headers } from './answer.ts'
import type { Connection, Received } from './connection.ts'
import type { Question } from './question.ts'

/** Jobs may end sooner than expected: the result is asked for at least this often, in seconds. */
const mostS = 10

/** True: the caller knows that the answer may be a job. */
function wantsJob(headers: Headers): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  if (names.includes('plimsoll-webhook')) return true
  const prefer = Object.entries(headers).find(([name]) => name.toLowerCase() === 'prefer')?.[1] ?? ''
  return /(^|,)\s*(respond-async|wait)\b/i.test(prefer)
}

/** The path of the job; undefined: this is the answer. */
function jobPath({ status, headers }: Received): string | undefined {
  if (status !== 202 || headers['plimsoll-job'] !== undefined) return undefined
  return /^\/-\/jobs\/[^/?#]+$/.exec(headers.location ?? '')?.[0]
}

/** The answer itself, or what the caller asked for. Rejects with the reason of an aborted signal; then the job is cancelled. */
export async function keptAnswer(
  send: Connection['send'],
  question: Question,
  first: Received,
  signal: AbortSignal | undefined,
): Promise<Received> {
  const path = jobPath(first)
  if (path === undefined || wantsJob(question.headers)) return first
  const { authorization } = question.headers
  const headers = authorization === undefined ? {} : { authorization }
  let answer = first
  try {
    do {
      const seconds = Number(answer.headers['retry-after'] ?? 1)
      await answer.bytes()
      await delay(Math.min(mostS, Math.max(1, seconds || 1)) * 1000, undefined, signal && { signal })
      answer = await send({ method: 'GET', path: `${path}/result`, headers }, signal)
      // Without it, this is not the answer of the job: there is none yet, or the keeper cannot be reached.
    } while (
      answer.headers['content-location'] === undefined &&
      (answer.status === 202 || answer.status === 503)
    )
    return answer
  } catch (error) {
    if (!signal?.aborted) throw error
    // Others may wait for a job with a key.
    if (!hasKey(question.headers)) await send({ method: 'DELETE', path, headers }, undefined).catch(() => {})
    throw signal.reason
  }
}

function hasKey(headers: Headers): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')
}
