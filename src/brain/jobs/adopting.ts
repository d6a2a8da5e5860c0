/** Attempts that an earlier brain began and that go on under this one. */

import type { HeldAttempt, Ongoing } from '../../model/attempt.ts'
import { shareOf } from '../../model/discipline.ts'
import type { Core } from '../core.ts'
import { claimKey } from '../recovery.ts'
import { type Attempt, type JobRecord, newWorkerRecord, type WorkerRecord } from '../state.ts'
import { announce } from './announcements.ts'
import { newAttempt } from './attempts.ts'
import { conclude } from './ending.ts'
import { mirror, queueBehind } from './mirror.ts'
import { sendPrecedence, untilOn } from './precedence.ts'
import { noteDone, noteWaiting } from './progress.ts'

/** False: the attempt is lost, and the job is to be placed. */
export function adoptAttempt(core: Core, record: JobRecord, on: Ongoing): boolean {
  record.attempts = on.attempt
  const worker = core.workers.get(on.worker) ?? absentWorker(core, on.worker)
  if (!worker) {
    if (!on.committed) return false
    conclude(core, record, 'unknown', { code: 'outcome-unknown', cause: 'not-joined' })
    return true
  }
  const attempt = newAttempt(on.epoch, record, worker, core.now, false)
  attempt.committed = on.committed === true
  attempt.answering = on.answering === true
  record.attempt = attempt
  worker.usedMb += record.job.memoryMb
  worker.jobs.push(attempt)
  announce(core, 'adopt', attempt, { code: 'adopted' })
  if (core.workers.has(worker.id)) begin(core, worker, [attempt], claim(worker, attempt))
  else mirror(core, worker)
  return true
}

/** The worker joins: it runs the attempts that fronts have claimed meanwhile. */
export function moveAttempts(core: Core, worker: WorkerRecord, held: readonly HeldAttempt[]): void {
  const { absent } = core.recovery
  const jobs = absent.get(worker.id)?.jobs
  absent.delete(worker.id)
  if (!jobs) return
  for (const attempt of jobs) {
    attempt.worker = worker
    attempt.sharesUntil = shareOf(attempt.job, worker.workPerSecond)
    attempt.running = false
    attempt.since = core.now
    attempt.seenIn = worker.reports
    worker.usedMb += attempt.job.memoryMb
  }
  worker.jobs = jobs
  begin(core, worker, jobs, held)
}

/** The attempts begin for this brain. `held`: what is known of them. */
function begin(
  core: Core,
  worker: WorkerRecord,
  attempts: readonly Attempt[],
  held: readonly (HeldAttempt & { at?: number })[],
): void {
  const tokens = new Map(held.map((token) => [claimKey(token), token]))
  for (const attempt of attempts) {
    const token = tokens.get(claimKey(tokenOf(attempt)))
    if (token) noteWaiting(core, attempt, token.waiting === true)
    if (token?.done !== undefined) noteDone(core, attempt, token.done)
  }
  mirror(core, worker)
  for (const attempt of attempts) {
    // The worker assumes that its progress is extrapolated since then.
    const { at = core.now } = tokens.get(claimKey(tokenOf(attempt))) ?? {}
    if (attempt.running) attempt.since = at
    else if (core.discipline.bounded && !attempt.waiting) queueBehind(core, attempt)
  }
  core.scheduler.refile(worker)
  for (const attempt of attempts) {
    attempt.record.until = untilOn(worker, attempt.record)
    for (const started of core.hooks.started) started(core, attempt)
    // The worker goes by the precedence that the earlier brain told it.
    if (core.discipline.ranks) sendPrecedence(core, attempt, { code: 'adopted' })
  }
}

/** Takes the attempt from the unclaimed ones. */
function claim(worker: WorkerRecord, attempt: Attempt): HeldAttempt[] {
  const { unclaimed } = worker
  const key = claimKey(tokenOf(attempt))
  const held = unclaimed?.get(key)
  if (!held) return []
  const rest = new Map([...unclaimed!].filter(([each]) => each !== key))
  worker.unclaimed = rest.size > 0 ? rest : undefined
  return [held]
}

function tokenOf({ epoch, job, number }: Attempt) {
  return { epoch, job: job.id, attempt: number }
}

/** Stands for a worker that has not joined. It is never ready, so no policy finds it. Undefined: nobody waits for it any more. */
function absentWorker({ recovery }: Core, id: string): WorkerRecord | undefined {
  const known = recovery.absent.get(id)
  if (known || recovery.isOver) return known
  const worker = newWorkerRecord(
    { id, cores: Infinity, workPerSecond: 1, memoryMb: Infinity, slots: Infinity },
    { number: 0, launch: undefined, state: 'terminated', since: 0, placedAt: 0, seq: 0, placedStamp: 0 },
  )
  recovery.absent.set(id, worker)
  return worker
}
