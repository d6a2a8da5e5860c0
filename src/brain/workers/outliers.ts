/**
 * Outlier detection: a worker that fails jobs which others finish, or takes far longer for its jobs than the others, is
 * ejected. It gets no jobs for a while, longer each time, and returns by itself. A limited share of the workers is
 * ejected at a time: if most workers seem bad, the jobs or the whole cluster are to blame. For the same reason the scaler
 * replaces only a few of them.
 *
 * A job that fails everywhere accuses nobody. Only when another worker or a function has finished it do its failures
 * count against the workers where it failed.
 */

import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import type { Health } from '../health.ts'
import { ranMs } from '../jobs/mirror.ts'
import { fill } from '../jobs/placing.ts'
import { msOf } from '../jobs/times.ts'
import type { Attempt, WorkerRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { forgetEjection, replaceExcludedJobs } from './leaving.ts'

/**
 * How many paces are remembered, and how many are enough to judge a worker, or one that was ejected before. Estimates are
 * less exact than measured work.
 */
const paceKinds = [
  { ring: 'byWork', kept: 16, enough: 6, enoughAgain: 3 },
  { ring: 'byEstimate', kept: 64, enough: 48, enoughAgain: 48 },
] as const
/** Added to all times, so that the overhead of short jobs does not count. */
const overheadMs = 20
/** The largest share of the workers that is written off, and so replaced, at a time; a single one always is. */
const mostWrittenOff = 0.25

export const outliers: Concern = {
  name: 'outliers',
  isActive: ({ limits }) => limits.outliers !== null,
  finished(core, attempt, work) {
    accuseWhereItFailed(core, attempt)
    if (attempt.inFunction) return
    attempt.worker.health.failures = 0
    attempt.worker.health.errors = 0
    attempt.worker.health.resultAt = core.now
    notePaces(core, attempt, work)
    comparePaces(core)
  },
  failed(core, { worker, inFunction }, kind, blameless) {
    if (!inFunction && kind === 'error' && !blameless) noteError(core, worker)
  },
  afterEvent(core) {
    if (core.accused.size > 0) ejectAccused(core)
    // The fleet may have become smaller.
    if (core.ejected.size > 0) readmitBeyondShare(core)
  },
  timers: {
    ejection(core, id) {
      const worker = core.workers.get(id)
      if (worker?.ejected) readmit(core, worker, { code: 'ejection-over', ms: worker.ejected.ms! })
    },
  },
}

/** The job is finished, so the workers that failed it are to blame. */
function accuseWhereItFailed(core: Core, { record, worker: finisher }: Attempt): void {
  if (!record.excluded) return
  const { failures: most } = core.limits.outliers!
  for (const id of record.excluded) {
    const worker = core.workers.get(id)
    if (!worker || worker === finisher) continue
    const failures = ++worker.health.failures
    if (failures >= most) accuse(core, worker, { code: 'failing', failures })
  }
}

/** Only results of others in the same time show that the worker is to blame: a single client may cause all errors. */
function noteError(core: Core, worker: WorkerRecord): void {
  const { health } = worker
  if (health.errors === 0) health.erringSince = core.now
  const errors = ++health.errors
  if (errors < core.limits.outliers!.errors) return
  let [good, bad] = [0, 0]
  for (const other of core.workers.values()) {
    if (other === worker || other.slots === 0) continue
    if (other.health.errors > 0) bad++
    else if (other.health.resultAt >= health.erringSince) good++
  }
  if (good > bad) accuse(core, worker, { code: 'erring', errors })
}

function notePaces(core: Core, attempt: Attempt, work: number): void {
  // Where jobs share the cores, their time on a core is not known.
  if (!core.discipline.bounded || !(work >= 0 && work < Infinity)) return
  const { worker, job } = attempt
  const tookMs = ranMs(attempt, core.now) + overheadMs
  const pace = (units: number) => tookMs / (msOf(job, units, worker.workPerSecond) + overheadMs)
  keep(worker.health.byWork, pace(work), paceKinds[0].kept)
  keep(worker.health.byEstimate, pace(job.work), paceKinds[1].kept)
}

function keep(ring: number[], pace: number, most: number): void {
  ring.push(pace)
  if (ring.length > most) ring.shift()
}

/** Accuses workers whose jobs take far longer than those of the others. */
function comparePaces(core: Core): void {
  const { slowdown, everyMs } = core.limits.outliers!
  if (core.now < core.pacesComparedAt + everyMs) return
  core.pacesComparedAt = core.now
  for (const kind of paceKinds) {
    const paces = [...core.workers.values()].flatMap((worker) => pacesOf(worker, kind))
    paces.sort((a, b) => a.median - b.median)
    if (paces.length < 2) continue
    // The median of the others; of an even number the larger: if half of the workers are slow, none is an outlier.
    const middle = (paces.length - 1) >> 1
    for (const [i, { worker, quartile }] of paces.entries()) {
      const times = quartile / paces[middle < i ? middle : middle + 1]!.median
      if (times >= slowdown) accuse(core, worker, { code: 'slow', times: Number(times.toPrecision(3)) })
    }
  }
}

function pacesOf(
  worker: WorkerRecord,
  { ring, enough, enoughAgain }: (typeof paceKinds)[number],
): { worker: WorkerRecord; median: number; quartile: number }[] {
  const { [ring]: paces, ejections } = worker.health
  if (worker.ejected || paces.length < (ejections > 0 ? enoughAgain : enough)) return []
  const sorted = paces.toSorted((a, b) => a - b)
  return [{ worker, median: sorted[sorted.length >> 1]!, quartile: sorted[sorted.length >> 2]! }]
}

/** It is ejected after the event, unless too many are. */
function accuse(core: Core, worker: WorkerRecord, reason: Reason): void {
  core.accused.set(worker, reason)
}

function ejectAccused(core: Core): void {
  const accused = [...core.accused]
  core.accused.clear()
  for (const [worker, reason] of accused) {
    if (worker.state !== 'ready' || worker.ejected) continue
    if (core.ejected.size + 1 <= mostEjected(core)) eject(core, worker, reason)
  }
}

function eject(core: Core, worker: WorkerRecord, why: Reason): void {
  const { baseMs, mostMs } = core.limits.outliers!
  const { health } = worker
  const forgiven = Math.floor((core.now - health.readmittedAt) / baseMs)
  health.ejections = Math.max(0, health.ejections - forgiven) + 1
  const ms = Math.min(mostMs, baseMs * health.ejections)
  const reason = { ...why, ms, ejections: health.ejections }
  forgetPaces(health)
  worker.ejected = reason
  core.ejected.add(worker)
  health.ejectionTimer = setTimer(core, { kind: 'ejection', id: worker.id }, core.now + ms)
  writeOff(core, worker, ms)
  core.scheduler.refile(worker)
  core.actions.push({ type: 'eject', worker: worker.id, reason })
  replaceExcludedJobs(core)
}

/** If a replacement could join before the ejection ends, the worker does not count as capacity until then. */
function writeOff(core: Core, worker: WorkerRecord, ejectionMs: number): void {
  const bootMs = core.boots.percentile(90)
  if (bootMs === undefined || bootMs >= ejectionMs) return
  const most = Math.max(1, Math.floor(mostWrittenOff * (core.ready - core.withoutSlots)))
  if (core.writtenOff.size >= most) return
  core.writtenOff.add(worker)
  rescaleSoon(core)
}

/** The fleet has been scaled after this event already. */
function rescaleSoon(core: Core): void {
  setTimer(core, { kind: 'scale', id: 'ejection' }, core.now)
}

function readmit(core: Core, worker: WorkerRecord, reason: Reason): void {
  if (core.writtenOff.has(worker)) rescaleSoon(core)
  forgetEjection(core, worker)
  worker.health.readmittedAt = core.now
  forgetPaces(worker.health)
  core.scheduler.refile(worker)
  core.actions.push({ type: 'readmit', worker: worker.id, reason })
  fill(core, worker)
}

/** What it did before its ejection does not count afterwards. */
function forgetPaces(health: Health): void {
  health.failures = 0
  health.errors = 0
  health.byWork = []
  health.byEstimate = []
}

function readmitBeyondShare(core: Core): void {
  const percent = core.limits.outliers!.share * 100
  for (const worker of core.ejected) {
    if (core.ejected.size <= mostEjected(core)) return
    readmit(core, worker, { code: 'too-many-ejected', percent })
  }
}

function mostEjected({ limits, ready, withoutSlots }: Core): number {
  return Math.floor(limits.outliers!.share * (ready - withoutSlots))
}
