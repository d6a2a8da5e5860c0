/**
 * The answer limit: an attempt may take a few times as long as its worker should need for all its jobs. If it takes
 * longer, it has failed; or first the worker is asked for a heartbeat, which decides: alive, the attempt is sent to it
 * again; else the worker is lost.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import type { Attempt, JobRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { lose } from '../workers/leaving.ts'
import { isAnswered, ping } from '../workers/pings.ts'
import { announce } from './announcements.ts'
import { releaseAttempt } from './attempts.ts'
import { doneWork, remainingWork } from './mirror.ts'
import { fill } from './placing.ts'
import { retry } from './retry.ts'
import { nominalWork } from './times.ts'

/** The limit doubles each time an attempt at the job exceeded it, at most this many times. */
const mostDoublings = 20

export const answerLimit: Concern = {
  name: 'answer limit',
  isActive: ({ limits }) => limits.answers !== null,
  started(core, attempt) {
    if (!attempt.inFunction) setLimit(core, attempt, core.now + limitMs(core, attempt))
  },
  jobTimers: { answer: checkAnswer },
}

/** The time for an answer, or for a heartbeat, is over. */
function checkAnswer(core: Core, record: JobRecord): void {
  const attempt = record.attempt!
  attempt.timer = undefined
  // An answer that has begun to arrive, and an attempt that must not be repeated, have no limit.
  if (attempt.answering || attempt.committed) return
  const { heartbeatMs } = core.limits.answers!
  if (heartbeatMs === undefined) return tryAgain(core, attempt, 'timed-out', core.now)
  if (!attempt.asked) {
    attempt.asked = { ping: ping(core, attempt.worker), at: core.now }
    return setLimit(core, attempt, core.now + heartbeatMs)
  }
  const { at, ping: number } = attempt.asked
  if (isAnswered(attempt.worker, number)) return tryAgain(core, attempt, 'overdue', at)
  const facts = { limitMs: thousandths(at - attempt.sentAt), answerMs: heartbeatMs }
  lose(core, attempt.worker.id, { code: 'heartbeat', ...facts })
}

/** The work of the attempt is lost. The next one has twice the time, for the estimate may be what was wrong. */
function tryAgain(core: Core, attempt: Attempt, cause: 'overdue' | 'timed-out', limitAt: number): void {
  attempt.record.resent++
  releaseAttempt(core, attempt, doneWork(attempt, core.now))
  announce(core, 'cancel', attempt, { code: cause, limitMs: thousandths(limitAt - attempt.sentAt) })
  retry(core, attempt, cause)
  fill(core, attempt.worker)
}

/** Jobs may share the worker's cores, so none must end before all have. */
function limitMs({ limits, now }: Core, { worker, record }: Attempt): number {
  const { factor, leastMs } = limits.answers!
  const { jobs, cores, workPerSecond } = worker
  const work = jobs.reduce((sum, attempt) => sum + nominalWork(attempt.job, remainingWork(attempt, now)), 0)
  const needMs = (work / (cores * workPerSecond)) * 1000
  return (leastMs + factor * needMs) * 2 ** Math.min(record.resent, mostDoublings)
}

function setLimit(core: Core, attempt: Attempt, at: number): void {
  attempt.timer = setTimer(core, { kind: 'answer', id: attempt.job.id }, at)
}
