/** Scale-in: which launches are abandoned, and which workers drain. */

import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { secondsLeft } from './fleet-view.ts'
import { endLaunch } from './launching.ts'
import { drain } from './leaving.ts'

/** Abandons the newest launches first, then drains the workers that are empty soonest. */
export function scaleIn(core: Core, count: number, reason: Reason): void {
  const awaited = launchesAwaited(core, reason)
  const booting = [...core.launches.keys()]
    .filter((id) => !awaited.has(id))
    .slice(-count)
    .reverse()
  for (const id of booting) {
    endLaunch(core, id)
    core.actions.push({ type: 'abandon', launch: id, reason })
  }
  if (booting.length < count) drainSome(core, count - booting.length, reason, awaited)
}

/** A worker that was launched for a job is kept for it, unless the fleet exceeds its maximum. */
function launchesAwaited({ queue }: Core, { code }: Reason): Set<string> {
  const awaited = new Set<string>()
  if (code === 'above-max') return awaited
  for (const { awaits } of queue) if (awaits !== undefined) awaited.add(awaits)
  return awaited
}

/** The soonest empty first; among equals the one that was given a job longest ago, then the youngest. */
function drainSome(core: Core, count: number, reason: Reason, awaited: ReadonlySet<string>): void {
  const candidates: { worker: WorkerRecord; drainMs: number }[] = []
  for (const worker of core.workers.values()) {
    if (worker.state !== 'ready' || awaited.has(worker.launch ?? '')) continue
    const drainMs = timeToDrain(worker, core.now)
    if (isPaidOff(core, worker, drainMs)) candidates.push({ worker, drainMs })
  }
  candidates.sort(
    (a, b) =>
      a.drainMs - b.drainMs ||
      a.worker.jobs.length - b.worker.jobs.length ||
      a.worker.placedAt - b.worker.placedAt ||
      b.worker.number - a.worker.number,
  )
  for (const { worker, drainMs } of candidates.slice(0, count))
    drain(core, worker.id, { ...reason, drainMs: Math.round(drainMs) })
}

/** A lower bound: the longest job, and all jobs spread evenly over the cores. */
function timeToDrain({ jobs, cores, workPerSecond }: WorkerRecord, now: number): number {
  let [longest, sum] = [0, 0]
  for (const { record } of jobs) {
    const seconds = secondsLeft(record, now, workPerSecond)
    longest = Math.max(longest, seconds)
    sum += seconds
  }
  return Math.max(longest, sum / cores) * 1000
}

/** True: ending the worker wastes neither its minimum billing time nor much of a billing period. */
function isPaidOff(core: Core, worker: WorkerRecord, drainMs: number): boolean {
  const { minimumMs = 0, periodMs = 0 } = core.billing
  const endsAfterMs = core.now - worker.since + drainMs
  if (endsAfterMs < minimumMs) return false
  if (periodMs === 0) return true
  const leftMs = periodMs - (endsAfterMs % periodMs)
  return leftMs <= Math.max(2 * core.scaler.everyMs, periodMs / 10)
}
