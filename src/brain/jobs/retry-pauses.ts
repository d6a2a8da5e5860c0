/**
 * Pauses before retries. The first retry of a job comes at once. Each further one waits, twice as long and spread at
 * random, so that jobs which fail together do not come back together. And retries wait while they have used up their
 * budget, except the first one after the loss of a worker. A job that waits for its retry is queued, but no worker takes it.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { enqueue, place } from './placing.ts'
import { msOf } from './times.ts'

export const retryPauses: Concern = {
  name: 'retry pauses',
  isActive: ({ retries }) => retries !== undefined,
  arrives(core, record) {
    const { budget, waiting } = core.retries!
    budget.admit(predictedMs(core, record), core.now)
    if (waiting.size > 0) planRelease(core)
    return undefined
  },
  over(core, record) {
    record.retryTimer = clearTimer(core, record.retryTimer)
    core.retries!.waiting.delete(record)
  },
  jobTimers: {
    retry(core, record) {
      record.retryTimer = undefined
      core.queue.remove(record)
      if (!waitsForBudget(core, record)) start(core, record)
    },
  },
  timers: { retries: release },
}

/** `doneMs`: of the failed attempt. True: the job, which nobody holds, has been queued, and its retry follows later. */
export function holdBack(core: Core, record: JobRecord, afterLoss: boolean, doneMs: number): boolean {
  if (!core.retries) return false
  const { rule, random } = core.retries
  record.retries++
  record.redoneMs = doneMs
  if (record.retries > 1) {
    const fullMs = Math.min(rule.pauseMaxMs, rule.pauseMs * 2 ** Math.min(record.retries - 2, 50))
    const ms = fullMs * (0.5 + random.next() / 2)
    hold(core, record, { code: 'retry-pause', tries: record.retries, ms: thousandths(ms) })
    record.retryTimer = setTimer(core, { kind: 'retry', id: record.job.id }, core.now + ms)
    return true
  }
  if (!afterLoss && waitsForBudget(core, record)) return true
  spend(core, record)
  return false
}

/** True: retries have used up their budget, so the job, which is not queued, waits with the others. */
function waitsForBudget(core: Core, record: JobRecord): boolean {
  const { rule, budget, waiting } = core.retries!
  if (waiting.size === 0 && budget.freeAt(core.now) <= core.now) return false
  waiting.add(record)
  hold(core, record, { code: 'retry-budget', percent: rule.share * 100 })
  planRelease(core)
  return true
}

function hold(core: Core, record: JobRecord, reason: Reason): void {
  record.held = reason
  enqueue(core, record, { reason })
}

function planRelease(core: Core): void {
  const { retries, now } = core
  clearTimer(core, retries!.timer)
  const at = Math.max(now, retries!.budget.freeAt(now))
  retries!.timer = setTimer(core, { kind: 'retries', id: 'budget' }, at)
}

/** Lets jobs go in the order of the queue, until the budget is used up again. */
function release(core: Core): void {
  const { budget, waiting } = core.retries!
  core.retries!.timer = undefined
  for (const record of inOrder(core, waiting)) {
    if (budget.freeAt(core.now) > core.now) break
    waiting.delete(record)
    core.queue.remove(record)
    start(core, record)
  }
  if (waiting.size > 0) planRelease(core)
}

function inOrder({ scheduler }: Core, waiting: ReadonlySet<JobRecord>): JobRecord[] {
  const ranked = [...waiting].map((record) => ({ record, rank: scheduler.rank(record) }))
  return ranked.sort((a, b) => a.rank - b.rank || a.record.seq - b.record.seq).map(({ record }) => record)
}

/** The retry of a job that is not queued any more. */
function start(core: Core, record: JobRecord): void {
  record.held = undefined
  spend(core, record)
  place(core, record)
}

function spend(core: Core, record: JobRecord): void {
  core.retries!.budget.spend(record.redoneMs, core.now)
}

/** As time of a core. */
function predictedMs({ fastest }: Core, { job }: JobRecord): number {
  return fastest > 0 ? msOf(job, job.work, fastest) : 0
}
