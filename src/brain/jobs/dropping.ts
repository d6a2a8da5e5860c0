/** Queue timeouts by lane, at the times that the scaling policy chooses. Dropped jobs are answered and counted separately. */

import { thousandths } from '../../lib/quantities.ts'
import type { Core } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { conclude } from './ending.ts'

/** The oldest first. A job that a worker was given before is not dropped, even if it is queued again. */
export function dropWaiting(core: Core, limits: Readonly<Record<string, number>>): void {
  if (core.queue.laned === 0) return
  const late: JobRecord[] = []
  for (const record of core.queue) if (isLate(record, limits, core.now)) late.push(record)
  late.sort((a, b) => a.seq - b.seq)
  for (const record of late) {
    const lane = record.job.lane!
    const waitedMs = thousandths(core.now - record.arrivedAt)
    conclude(core, record, 'dropped', { code: 'dropped', lane, waitedMs, limitMs: limits[lane]! })
  }
}

function isLate(
  { job, attempts, arrivedAt }: JobRecord,
  limits: Readonly<Record<string, number>>,
  now: number,
): boolean {
  if (job.lane === undefined || attempts > 0 || !Object.hasOwn(limits, job.lane)) return false
  return now - arrivedAt > limits[job.lane]!
}
