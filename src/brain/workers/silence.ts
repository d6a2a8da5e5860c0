/** Heartbeats: a worker that misses too many of them, or leaves too many pings unanswered, is lost. */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import { awakeMs } from '../own-pauses.ts'
import type { WorkerRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { lose } from './leaving.ts'
import { noteSilentLoss, whyKept } from './silent-losses.ts'

export const silence: Concern = {
  name: 'silence',
  isActive: ({ limits }) => limits.pings !== null || limits.beatMs > 0,
  joined: watch,
  reported(core, worker) {
    worker.kept = undefined
    // It is no longer new, so less silence is tolerated.
    if (worker.reports === 1 && !core.limits.pings) watch(core, worker)
  },
  timers: { silence: checkSilence },
}

/** Sets the timer for when the worker has been silent for too long, or must have answered its first ping. */
function watch(core: Core, worker: WorkerRecord): void {
  const { pings } = core.limits
  clearTimer(core, worker.silenceTimer)
  if (pings) {
    worker.pingedAt = core.now + pings.everyMs
    plan(core, worker, worker.pingedAt + pings.answerMs)
  } else plan(core, worker, core.now + silenceLimitMs(core, worker) - silentMs(core, worker))
}

function checkSilence(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (!worker) return
  worker.silenceTimer = undefined
  if (core.limits.pings) return checkPing(core, worker)
  const limitMs = silenceLimitMs(core, worker)
  const ms = silentMs(core, worker)
  // Sums of fractions are not exact.
  if (ms < limitMs - 0.001) return watch(core, worker)
  const isSilent = (other: WorkerRecord) => silentMs(core, other) > silenceLimitMs(core, other) / 2
  const kept = whyKept(core, worker, { silentMs: ms, limitMs, isSilent })
  if (kept) return keep(core, worker, kept)
  noteSilentLoss(core, worker)
  lose(core, id, { code: 'silent', silentMs: thousandths(ms) })
}

/** The worker gets no jobs, and is checked again after the time of a heartbeat. */
function keep(core: Core, worker: WorkerRecord, reason: NonNullable<WorkerRecord['kept']>): void {
  if (!worker.kept) core.actions.push({ type: 'hold', worker: worker.id, reason })
  worker.kept = reason
  worker.suspect = true
  core.scheduler.refile(worker)
  plan(core, worker, core.now + core.limits.beatMs)
}

/** The time to answer the last ping is over. */
function checkPing(core: Core, worker: WorkerRecord): void {
  const { everyMs, answerMs, most, mostFresh } = core.limits.pings!
  const { lastSeenAt, pingedAt } = worker
  const isAnswered = lastSeenAt + core.pauses.since(lastSeenAt) >= pingedAt
  worker.unanswered = isAnswered ? 0 : worker.unanswered + 1
  const limit = worker.reports === 0 ? mostFresh : most
  if (worker.unanswered >= limit)
    return lose(core, worker.id, { code: 'pings', unanswered: worker.unanswered, everyMs, answerMs })
  worker.pingedAt += everyMs
  plan(core, worker, worker.pingedAt + answerMs)
}

function plan(core: Core, worker: WorkerRecord, at: number): void {
  worker.silenceTimer = setTimer(core, { kind: 'silence', id: worker.id }, at)
}

/** How long the worker has not reported, without the time in which the brain did not run. */
function silentMs(core: Core, { lastSeenAt }: WorkerRecord): number {
  return awakeMs(core, lastSeenAt)
}

function silenceLimitMs(
  { limits: { beatMs, missedBeats, freshMs } }: Core,
  { reports }: WorkerRecord,
): number {
  const usual = beatMs * missedBeats
  return reports === 0 ? Math.max(freshMs, usual) : usual
}
