/** The brain's mirror of what each worker runs, by the discipline that the worker itself obeys. */

import { thousandths } from '../../lib/quantities.ts'
import { rankOf, standsIn, unpaused } from '../../model/discipline.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { Attempt, WorkerRecord } from '../state.ts'
import { announce, msOn } from './announcements.ts'

/** Work that the attempt is still expected to need. */
export function remainingWork(attempt: Attempt, now: number): number {
  return Math.max(0, attempt.expected - doneWork(attempt, now))
}

/** Work that the attempt has done, extrapolated from what was last known. */
export function doneWork(attempt: Attempt, now: number): number {
  if (!holdsCore(attempt)) return attempt.done
  const { workPerSecond, pace } = attempt.worker
  return attempt.done + ((now - attempt.since) / 1000) * workPerSecond * pace
}

/** True: it runs and does not wait for input or output. */
export function holdsCore({ running, waiting }: Attempt): boolean {
  return running && !waiting
}

/** Where jobs share the cores, all of them run. */
export function isRunning({ discipline }: Core, { running }: Attempt): boolean {
  return running || !discipline.bounded
}

/** Time so far during which it was not paused; of a shared core, its part. */
export function ranMs(attempt: Attempt, now: number): number {
  if (!attempt.running) return attempt.ranMs
  return attempt.ranMs + (now - attempt.since) * (attempt.waiting ? 1 : attempt.worker.pace)
}

/** Its rank among the attempts of its worker. */
function rank(attempt: Attempt, now: number): number {
  const done = doneWork(attempt, now)
  return rankOf(attempt.record, done, Math.max(0, attempt.expected - done))
}

/** When a running attempt is expected to end. Does not change while it runs and its worker's pace stays the same. */
export function expectedEnd(attempt: Attempt): number {
  const { workPerSecond, pace } = attempt.worker
  return attempt.since + ((attempt.expected - attempt.done) / (workPerSecond * pace)) * 1000
}

/** Notes how much work is done by now. */
export function settleDone(attempt: Attempt, done: number, now: number): void {
  attempt.ranMs = ranMs(attempt, now)
  attempt.done = done
  attempt.since = now
}

/** Updates the mirror after the worker's attempts, or what is known of them, changed. */
export function mirror(core: Core, worker: WorkerRecord): void {
  const { jobs } = worker
  if (!core.discipline.bounded) {
    setRunning(core, worker, jobs.length)
    return
  }
  const { now } = core
  let waiting = 0
  for (const attempt of jobs) if (attempt.waiting) waiting++
  if (jobs.length - waiting <= worker.cores) {
    setRunning(core, worker, jobs.length - waiting)
    for (const attempt of jobs) if (!attempt.running) run(core, attempt)
    return
  }
  if (core.discipline.ranks) for (const attempt of jobs) attempt.rank = rank(attempt, now)
  const chosen = unpaused(core.discipline, jobs, worker.cores)
  setRunning(core, worker, chosen.length - waiting)
  let taker = 0
  for (const attempt of jobs) {
    if (!attempt.running || chosen.includes(attempt)) continue
    // Chosen attempts that run already keep their cores; each of the others preempts one.
    while (chosen[taker]?.running) taker++
    pause(core, attempt, chosen[taker++])
  }
  for (const attempt of chosen) if (!attempt.running) run(core, attempt)
}

function setRunning(core: Core, worker: WorkerRecord, running: number): void {
  if (worker.state === 'ready')
    core.busyCores += Math.min(worker.cores, running) - Math.min(worker.cores, worker.running)
  worker.running = running
  if (!core.discipline.bounded) return
  const pace = Math.min(1, worker.cores / running)
  if (pace === worker.pace) return
  // What was done so far was done at the old pace.
  for (const attempt of worker.jobs)
    if (attempt.running) settleDone(attempt, doneWork(attempt, core.now), core.now)
  worker.pace = pace
}

/** The attempt was sent to a worker that has no core for it yet. */
export function queueBehind(core: Core, attempt: Attempt): void {
  attempt.pausedAt = core.now
  const { jobs, cores } = attempt.worker
  announce(core, 'pause', attempt, { code: 'no-core', jobs: jobs.length - 1, cores })
}

function run(core: Core, attempt: Attempt): void {
  const { now } = core
  attempt.running = true
  attempt.since = now
  if (attempt.pausedAt < 0) return
  const pausedMs = thousandths(now - attempt.pausedAt)
  attempt.pausedAt = -1
  const reason: Reason = { code: 'core-again', pausedMs, leftMs: leftMs(attempt, now) }
  if (goesFirst(attempt, now)) reason.first = 1
  announce(core, 'resume', attempt, reason)
}

function pause(core: Core, attempt: Attempt, taker: Attempt | undefined): void {
  const { now } = core
  settleDone(attempt, doneWork(attempt, now), now)
  attempt.running = false
  attempt.pausedAt = now
  const left = leftMs(attempt, now)
  const reason: Reason = taker
    ? { code: 'core-taken', by: taker.job.id, needMs: leftMs(taker, now), leftMs: left }
    : { code: 'not-chosen', leftMs: left }
  if (taker && goesFirst(taker, now)) reason.first = 1
  announce(core, 'pause', attempt, reason)
}

/** True: the attempt has a core because of its precedence, not because of its remaining work. */
function goesFirst(attempt: Attempt, now: number): boolean {
  return standsIn(attempt.record, doneWork(attempt, now)) < 0
}

function leftMs(attempt: Attempt, now: number): number {
  return msOn(attempt.worker, attempt.job, remainingWork(attempt, now))
}
