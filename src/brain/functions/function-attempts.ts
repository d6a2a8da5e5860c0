/** Attempts in functions: their timeout, what they teach, and how much work is ahead of each job. */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import { announce } from '../jobs/announcements.ts'
import { releaseAttempt } from '../jobs/attempts.ts'
import { retry } from '../jobs/retry.ts'
import { msOf } from '../jobs/times.ts'
import type { Attempt, FunctionUse, JobRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { partLeft } from './backlog.ts'
import { noteAnswer, noteFailure, noteWorkerPace } from './learning.ts'

/** A silent function is given up after this many times the predicted time. */
const tolerance = 10

export const functionAttempts: Concern = {
  name: 'function attempts',
  isActive: ({ overflow }) => overflow !== undefined,
  arrives(_, record) {
    record.functions = { tries: 0, retryAt: 0, fleetOnly: false, weight: 0 }
    return undefined
  },
  queued(core, record) {
    core.overflow!.backlog.weigh(record, 1)
    if (record.functions!.retryAt === 0) stayWithFleet(core, record.functions!)
  },
  started(core, attempt) {
    const use = attempt.record.functions!
    use.retryAt = 0
    if (attempt.inFunction) {
      use.tries++
      core.overflow!.backlog.weigh(attempt.record, 0)
      setTimeLimit(core, attempt)
    } else {
      stayWithFleet(core, use)
      core.overflow!.backlog.weigh(attempt.record, partLeft)
    }
  },
  finished(core, attempt, work) {
    if (attempt.inFunction) noteAnswer(core, attempt, work)
    else noteWorkerPace(core, attempt, work)
  },
  ended(core, { inFunction }) {
    if (inFunction) core.overflow!.freed = true
  },
  over: (core, record) => core.overflow!.backlog.weigh(record, 0),
  jobTimers: { function: giveUp },
}

/** If only arriving jobs may go to functions, a job that was queued or sent to a worker may not any more. */
function stayWithFleet({ overflow }: Core, use: FunctionUse): void {
  if (overflow!.spec.when === 'arrival') use.fleetOnly = true
}

function setTimeLimit(core: Core, attempt: Attempt): void {
  const { spec, pace } = core.overflow!
  const expectedMs = attempt.coldMs + msOf(attempt.job, attempt.job.work, spec.workPerSecond) * pace
  const limitMs = Math.min(
    Math.max(spec.patienceMs, tolerance * expectedMs),
    spec.timeoutMs + spec.patienceMs,
  )
  attempt.timer = setTimer(core, { kind: 'function', id: attempt.job.id }, core.now + limitMs)
}

/** The function has been silent for too long. */
function giveUp(core: Core, record: JobRecord): void {
  const attempt = record.attempt!
  const afterMs = thousandths(core.now - attempt.sentAt)
  noteFailure(core, 'function-silent')
  releaseAttempt(core, attempt)
  announce(core, 'cancel', attempt, { code: 'function-silent', afterMs })
  retry(core, attempt, 'function-silent')
}
