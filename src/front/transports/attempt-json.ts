/** The JSON head of attempts. What all attempts of a request share is serialized once. */

import type { AttemptToken } from '../../model/attempt.ts'
import type { Job, Precedence } from '../../model/job.ts'
import type { AttemptHead } from '../../wire/messages.ts'

/** The part of a head that differs between attempts. */
export type AttemptOrder = Omit<AttemptHead, 'params' | 'http'>

/** Where the JSON text of the request begins and ends in the head: `start`, then the request's members, then `end`. */
export function aroundRequest(order: AttemptOrder): { start: Buffer; end: Buffer } {
  return { start: Buffer.from(`${JSON.stringify(order).slice(0, -1)},`), end: Buffer.from('}') }
}

/** What a worker is told of an attempt at this job. */
export function orderOf(
  asked: Job,
  { epoch, job, attempt }: AttemptToken,
  { precedence, maxCpuMs }: { precedence: Precedence | undefined; maxCpuMs: number | undefined },
): AttemptOrder {
  return {
    epoch,
    job,
    attempt,
    workload: asked.workload,
    work: asked.work,
    ...(asked.high !== undefined && { high: asked.high }),
    ...(asked.unproven && { unproven: true as const }),
    preemptible: asked.preemptible ?? true,
    ...(maxCpuMs !== undefined && { maxCpuMs }),
    ...(precedence && { precedence }),
    ask: asked.safeToRepeat === false,
  }
}
