/**
 * How long an attempt may take: as long as its worker should need for what it has in hand, a few times over. If it takes
 * longer, the worker is asked for a sign of life: alive, the attempt is sent again; dead, all of its jobs go elsewhere.
 */

import { thousandths } from '../../lib/quantities.ts'
import { type Core, setTimer } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { lose } from '../workers/workers.ts'
import { retry } from './jobs.ts'
import { doneWork, remainingWork } from './mirror.ts'
import { detach, fill } from './placing.ts'

/** Sent again so often, an attempt is given no more than so many times as long. */
const mostDoublings = 20

/** The attempt has been sent. Without reports nobody could tell who is alive. */
export function watchAnswer(core: Core, record: JobRecord): void {
  endAnswer(core, record)
  const { answers, beatMs } = core.limits
  if (!answers || beatMs === 0) return
  setAnswer(core, record, core.now + limitMs(core, record))
}

export function endAnswer(core: Core, record: JobRecord): void {
  if (record.answer) core.timers.remove(record.answer)
  record.answer = undefined
  record.askedAt = -1
}

/** The time is up for an answer, or for a sign of life. */
export function checkAnswer(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  const worker = record.worker!
  const { heartbeatMs } = core.limits.answers!
  record.answer = undefined
  // What has begun to come, and what must not be repeated, is waited for; its connection, and reports, tell of its loss.
  if (record.answering || record.committed) return
  if (record.askedAt < 0) {
    record.askedAt = core.now
    setAnswer(core, record, core.now + heartbeatMs)
    return
  }
  const facts = { limitMs: thousandths(record.askedAt - record.sentAt), answerMs: heartbeatMs }
  if (worker.heardAt < record.askedAt) return lose(core, worker.id, { code: 'heartbeat', ...facts })
  sendAgain(core, record, facts.limitMs)
}

/** What it has done is lost. It is given twice as long, for it may be its estimate that was wrong. */
function sendAgain(core: Core, record: JobRecord, limit: number): void {
  const { attempt, job } = record
  const worker = record.worker!
  const reason = { code: 'overdue', limitMs: limit }
  record.resent++
  detach(core, record, doneWork(record, core.now))
  core.actions.push({ type: 'cancel', epoch: core.epoch, job: job.id, attempt, worker: worker.id, reason })
  retry(core, record, worker, 'overdue')
  fill(core, worker)
}

/** Jobs share its cores, so none must end before all have. */
function limitMs({ limits, now }: Core, { worker, resent }: JobRecord): number {
  const { factor, leastMs } = limits.answers!
  const { jobs, cores, workPerSecond } = worker!
  const work = jobs.reduce((sum, record) => sum + remainingWork(record, now), 0)
  const needMs = (work / (cores * workPerSecond)) * 1000
  return (leastMs + factor * needMs) * 2 ** Math.min(resent, mostDoublings)
}

function setAnswer(core: Core, record: JobRecord, at: number): void {
  record.answer = setTimer(core, { kind: 'answer', id: record.job.id }, at)
}
