/** Progress: how much of an attempt is done, and how its estimate changes with that. */

import type { Job } from '../../model/job.ts'
import { expectationAfter, type Prediction } from '../../model/revision.ts'
import type { Core } from '../core.ts'
import type { Attempt } from '../state.ts'
import { announce, msOn } from './announcements.ts'
import { doneWork, settleDone } from './mirror.ts'

/** An expectation that grows by this factor is announced. */
const outgrown = 1.25

/** Notes the work that a worker has reported as done, unless that is impossible or less than it reported before. */
export function noteDone(core: Core, attempt: Attempt, done: number): void {
  if (!(done >= attempt.reportedDone && done < Infinity)) return
  attempt.reportedDone = done
  settleDone(attempt, done, core.now)
  for (const progressed of core.hooks.progressed) progressed(core, attempt)
  if (done >= attempt.sharesUntil) attempt.sharesUntil = 0
  if (done < attempt.reviseAt) return
  const { worker, job, expected: was } = attempt
  const { expected, reviseAt } = expectationAfter(predictionOf(core, job), done)
  attempt.expected = expected
  attempt.reviseAt = reviseAt
  // A job that needs a little more than predicted is not worth an announcement.
  if (done < job.work || expected < was * outgrown) return
  const ms = (work: number) => msOn(worker, job, work)
  const reason = { doneMs: ms(done), wasMs: ms(was), nowMs: ms(expected) }
  announce(core, 'revise', attempt, { code: 'outgrew', ...reason })
}

/** The attempt starts or ceases to wait for input or output. */
export function noteWaiting(core: Core, attempt: Attempt, waiting: boolean): void {
  if (attempt.waiting === waiting) return
  settleDone(attempt, doneWork(attempt, core.now), core.now)
  attempt.waiting = waiting
}

/** Disciplines that do not rank jobs by remaining work go by the predicted work alone, not by its interval. */
export function predictionOf({ discipline }: Core, job: Job): Prediction {
  return discipline.ranks ? job : { work: job.work }
}
