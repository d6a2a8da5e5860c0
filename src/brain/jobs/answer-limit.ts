/**
 * The answer limit: an attempt may take a few times as long as its worker should need for all its jobs. If it takes
 * longer, the worker must report: if it does, the attempt is sent again; if not, the worker is lost.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import type { Attempt, JobRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { lose } from '../workers/leaving.ts'
import { announce } from './announcements.ts'
import { releaseAttempt } from './attempts.ts'
import { doneWork, remainingWork } from './mirror.ts'
import { fill } from './placing.ts'
import { retry } from './retry.ts'

/** The limit doubles each time the job is sent again, at most this many times. */
const mostDoublings = 20

export const answerLimit: Concern = {
  name: 'answer limit',
  // Without heartbeats nobody could tell which workers are alive.
  isActive: ({ limits }) => limits.answers !== null && limits.beatMs > 0,
  started(core, attempt) {
    if (!attempt.inFunction) setLimit(core, attempt, core.now + limitMs(core, attempt))
  },
  jobTimers: { answer: checkAnswer },
}

/** The time for an answer, or for a heartbeat, is over. */
function checkAnswer(core: Core, record: JobRecord): void {
  const attempt = record.attempt!
  const { worker } = attempt
  const { heartbeatMs } = core.limits.answers!
  attempt.timer = undefined
  // An answer that has begun to arrive, and an attempt that must not be repeated, have no limit.
  if (attempt.answering || attempt.committed) return
  if (attempt.askedAt < 0) {
    attempt.askedAt = core.now
    setLimit(core, attempt, core.now + heartbeatMs)
    return
  }
  const facts = { limitMs: thousandths(attempt.askedAt - attempt.sentAt), answerMs: heartbeatMs }
  if (worker.lastSeenAt < attempt.askedAt) return lose(core, worker.id, { code: 'heartbeat', ...facts })
  // A job that waits for input or output takes as long as that takes.
  if (attempt.waiting) return setLimit(core, attempt, core.now + limitMs(core, attempt))
  sendAgain(core, attempt, facts.limitMs)
}

/** Its work is lost. The next attempt has twice the time, for the estimate may be what was wrong. */
function sendAgain(core: Core, attempt: Attempt, limit: number): void {
  attempt.record.resent++
  releaseAttempt(core, attempt, doneWork(attempt, core.now))
  announce(core, 'cancel', attempt, { code: 'overdue', limitMs: limit })
  retry(core, attempt, 'overdue')
  fill(core, attempt.worker)
}

/** Jobs may share the worker's cores, so none must end before all have. */
function limitMs({ limits, now }: Core, { worker, record }: Attempt): number {
  const { factor, leastMs } = limits.answers!
  const { jobs, cores, workPerSecond } = worker
  const work = jobs.reduce((sum, attempt) => sum + remainingWork(attempt, now), 0)
  const needMs = (work / (cores * workPerSecond)) * 1000
  return (leastMs + factor * needMs) * 2 ** Math.min(record.resent, mostDoublings)
}

function setLimit(core: Core, attempt: Attempt, at: number): void {
  attempt.timer = setTimer(core, { kind: 'answer', id: attempt.job.id }, at)
}
