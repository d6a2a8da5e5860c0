/**
 * Gray failures: an attempt lives as long as its progress moves. One that does less than a tenth of what it should do,
 * for long enough, is tried elsewhere. If nothing else advances on its worker, the worker is to blame: it is drained and
 * replaced. A limited share of the workers is drained so; and a job accuses one worker only, since it may stand still
 * everywhere.
 *
 * Only time counts in which the attempt had a core and was ready to use it, as its worker reports it. So paused and
 * waiting jobs do not stand still, nor do jobs whose CPU time is not known.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { HeldAttempt } from '../../model/attempt.ts'
import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import { announce } from '../jobs/announcements.ts'
import { releaseAttempt } from '../jobs/attempts.ts'
import { conclude } from '../jobs/ending.ts'
import { doneWork, remainingWork } from '../jobs/mirror.ts'
import { fill } from '../jobs/placing.ts'
import { retry } from '../jobs/retry.ts'
import { msOf, speedOf } from '../jobs/times.ts'
import type { Stall, Watch } from '../stall.ts'
import type { Attempt, WorkerRecord } from '../state.ts'
import { drain } from './leaving.ts'

/** An attempt that did less than this of what it should do stands still; one that did more is slow. */
const stillPercent = 1

export const stalls: Concern = {
  name: 'stalls',
  isActive: ({ limits, discipline }) => limits.stalls !== null && discipline.bounded,
  held: watch,
  finished(core, { worker, inFunction }) {
    if (!inFunction) worker.health.progressedAt = core.now
  },
  afterEvent(core) {
    if (core.stalled.size === 0) return
    const stalled = [...core.stalled]
    core.stalled.clear()
    for (const [attempt, stall] of stalled)
      if (attempt.record.attempt === attempt) judge(core, attempt, stall)
  },
}

function watch(core: Core, attempt: Attempt, reported: HeldAttempt): void {
  const seen = readingOf(core, attempt, reported)
  if (!seen) return
  const since = attempt.watch
  if (!since || attempt.waiting || seen.activeMs < since.activeMs || seen.cpuMs < since.cpuMs) {
    attempt.watch = seen
    return
  }
  const { afterMs, share } = core.limits.stalls!
  const ms = seen.activeMs - since.activeMs
  const part = partOf(attempt, since, seen)
  if (part * ms >= share * afterMs) {
    attempt.watch = seen
    attempt.worker.health.progressedAt = core.now
  } else if (ms >= afterMs)
    core.stalled.set(attempt, { ms, work: seen.done - since.done, percent: part * 100 })
}

function readingOf(
  { now }: Core,
  { reportedDone }: Attempt,
  { activeMs, cpuMs }: HeldAttempt,
): Watch | undefined {
  if (activeMs === undefined || cpuMs === undefined) return undefined
  if (!(activeMs >= 0 && activeMs < Infinity && cpuMs >= 0 && cpuMs < Infinity)) return undefined
  return { at: now, activeMs, cpuMs, done: reportedDone }
}

/**
 * The part that the attempt did of what it should have done. One that gets no CPU time is stopped or starved. Work is
 * compared with the CPU time only if some was done, as code that is not metered counts none, and only if it is known how
 * fast such jobs are.
 */
function partOf({ job, worker }: Attempt, since: Watch, seen: Watch): number {
  const ms = seen.activeMs - since.activeMs
  const cpuMs = Math.min(ms, seen.cpuMs - since.cpuMs)
  const work = seen.done - since.done
  if (!(ms > 0 && cpuMs > 0)) return 0
  const pace = work > 0 && !job.unproven ? work / ((cpuMs / 1000) * worker.workPerSecond * speedOf(job)) : 1
  return (cpuMs / ms) * Math.min(1, pace)
}

function judge(core: Core, attempt: Attempt, stall: Stall): void {
  const { record, worker } = attempt
  const rule = core.limits.stalls!
  const since = attempt.watch!.at
  if (stall.ms < rule.patience * rule.afterMs && isWidespread(core, worker, since)) return
  const reason = { code: 'stalled', ms: thousandths(stall.ms), percent: Number(stall.percent.toPrecision(2)) }
  const isStill = stall.percent < stillPercent
  const blamesWorker = record.stalls === 0 && worker.health.progressedAt < since && mayDrain(core, worker)
  if (blamesWorker) replace(core, worker, reason)
  // What must not be repeated, or has begun to answer, can only go on.
  const mayMove =
    !attempt.committed && !attempt.answering && (isStill || isSoonerElsewhere(core, attempt, stall))
  const isLast = record.stalls + 1 >= rule.attempts
  if (!mayMove || (isLast && !isStill)) {
    attempt.watch = undefined
    return
  }
  record.stalls++
  releaseAttempt(core, attempt, doneWork(attempt, core.now))
  announce(core, 'cancel', attempt, reason)
  if (isLast) conclude(core, record, 'refused', { code: 'no-progress', tries: record.stalls, ms: reason.ms })
  else retry(core, attempt, 'stalled')
  fill(core, worker)
}

/** True: most other workers whose jobs are watched have not advanced since then. Something else may be at fault. */
function isWidespread({ workers }: Core, suspect: WorkerRecord, since: number): boolean {
  let [moving, still] = [0, 0]
  for (const worker of workers.values()) {
    if (worker === suspect) continue
    if (worker.health.progressedAt >= since) moving++
    else if (worker.jobs.some((attempt) => attempt.watch && attempt.watch.at <= since)) still++
  }
  return still > moving
}

/** Draining workers that were launched are replaced. The last one that was not launched stays. */
function mayDrain(
  { limits, now, stallDrains, ready, withoutSlots }: Core,
  { state, launch }: WorkerRecord,
): boolean {
  const { workers, forgetMs } = limits.stalls!
  while (stallDrains.length > 0 && stallDrains[0]! <= now - forgetMs) stallDrains.shift()
  const most = Math.floor(workers * (ready - withoutSlots + stallDrains.length))
  return state === 'ready' && stallDrains.length < Math.max(most, launch === undefined ? 0 : 1)
}

function replace(core: Core, worker: WorkerRecord, reason: Reason): void {
  core.stallDrains.push(core.now)
  worker.stalled = reason
  drain(core, worker.id, reason)
  core.rescale = true
}

/** True: at the usual rate the whole job takes less time than the rest of it at the rate of the stall. */
function isSoonerElsewhere(core: Core, attempt: Attempt, { ms, work }: Stall): boolean {
  const { job, worker, record } = attempt
  const leftMs = (remainingWork(attempt, core.now) / work) * ms
  return work === 0 || msOf(job, record.expected, worker.workPerSecond) < leftMs
}
