/** Heartbeats: a worker that misses too many of them is lost. */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import { awakeMs } from '../own-pauses.ts'
import type { WorkerRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { lose } from './leaving.ts'
import { noteSilentLoss, whyKept } from './silent-losses.ts'

export const silence: Concern = {
  name: 'silence',
  isActive: ({ limits }) => limits.pings === null && limits.beatMs > 0 && limits.missedBeats > 0,
  joined: watch,
  reported(core, worker) {
    worker.kept = undefined
    // It is no longer new, so less silence is tolerated.
    if (worker.reports === 1) watch(core, worker)
  },
  timers: { silence: checkSilence },
}

/** Sets the timer for when the worker has been silent for too long. */
function watch(core: Core, worker: WorkerRecord): void {
  clearTimer(core, worker.silenceTimer)
  plan(core, worker, core.now + silenceLimitMs(core, worker) - silentMs(core, worker))
}

function checkSilence(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (!worker) return
  worker.silenceTimer = undefined
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
