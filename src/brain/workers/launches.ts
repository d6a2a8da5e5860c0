/** Brings the fleet to the size that the scaling policy wants: launches, launches that fail, and scale-in. */

import type { Reason } from '../../model/reason.ts'
import { type Core, endLaunch, setTimer } from '../core.ts'
import { dropWaiting } from '../jobs/dropping.ts'
import type { ScaleSteps } from '../scale/scaler.ts'
import type { WorkerRecord } from '../state.ts'
import { fleetView, secondsLeft } from './fleet-view.ts'
import { drain, end } from './workers.ts'

/** After so many boots it is known how long they take; a launch is given so many times as long, and at least so long. */
const [enoughBoots, patience, leastBootMs] = [5, 5, 10_000]

export function resize(core: Core): void {
  const { scaler, now } = core
  const decision = scaler.decide(fleetView(core), now)
  if (decision.kind === 'hold') return
  if (decision.kind === 'steps') return take(core, decision)
  const missing = decision.to - core.ready - core.launches.size
  if (missing < 0) shrink(core, -missing, decision.reason)
  if (now < core.launchNotBefore) return
  for (let i = 0; i < missing; i++) launch(core, decision.reason)
}

/** Begins to launch a worker. */
export function launch(core: Core, reason: Reason): string {
  const id = `${core.epoch}-${++core.seqs.launch}`
  const timer = setTimer(core, { kind: 'launch', id }, core.now + bootLimitMs(core))
  core.launches.set(id, { id, at: core.now, timer })
  core.actions.push({ type: 'launch', launch: id, reason })
  return id
}

function take(core: Core, steps: ScaleSteps): void {
  for (const { worker, reason } of steps.drain ?? []) drain(core, worker, reason)
  for (const { worker, reason } of steps.end ?? []) end(core, worker, reason)
  if (steps.drop) dropWaiting(core, steps.drop)
  if (!steps.launch || core.now < core.launchNotBefore) return
  for (let i = 0; i < steps.launch.count; i++) launch(core, steps.launch.reason)
}

/** Once it is known how long boots take, a launch that takes far longer is not waited for. */
function bootLimitMs({ boots, limits, launchFailures }: Core): number {
  // Where workers are pinged, it is said how many pings a fresh one is given.
  const usual = limits.pings || boots.count < enoughBoots ? undefined : boots.percentile(90)
  if (usual === undefined) return limits.bootMs
  // Where boots have become slower, the next is waited for longer.
  const waitMs = Math.max(leastBootMs, patience * usual) * 2 ** Math.min(launchFailures, 20)
  return Math.min(limits.bootMs, waitMs)
}

/** It has not joined in time. */
export function giveUpLaunch(core: Core, id: string): void {
  const bootMs = core.now - (core.launches.get(id)?.at ?? core.now)
  failLaunch(core, id, { code: 'boot-timeout', bootMs })
}

/** A launch came to nothing. The next try waits, longer after each failure in a row. */
export function failLaunch(core: Core, id: string, reason: Reason): void {
  if (!endLaunch(core, id)) return
  core.actions.push({ type: 'abandon', launch: id, reason })
  const { backoffMs, backoffMaxMs } = core.limits
  // Those that fail together are one failure.
  if (core.now >= core.launchNotBefore) core.launchFailures++
  const pauseMs = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(core.launchFailures - 1, 50))
  core.launchNotBefore = core.now + pauseMs
  setTimer(core, { kind: 'scale', id: '' }, core.launchNotBefore)
}

/** So many fewer: the newest that nobody has seen yet, then those of the others that are soonest empty. */
function shrink(core: Core, count: number, reason: Reason): void {
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

/** A worker that a job has started, and waits for, is not taken from it again, unless there are more than may be. */
function launchesAwaited({ waiting }: Core, { code }: Reason): Set<string> {
  const awaited = new Set<string>()
  if (code === 'above-max') return awaited
  for (const { awaits } of waiting) if (awaits !== undefined) awaited.add(awaits)
  return awaited
}

/** Soonest empty first; among equals the one that was given a job longest ago, then the youngest. */
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

/** No job is done before the longest, and no core does more than its part. */
function timeToDrain({ jobs, cores, workPerSecond }: WorkerRecord, now: number): number {
  let [longest, sum] = [0, 0]
  for (const record of jobs) {
    const seconds = secondsLeft(record, now, workPerSecond)
    longest = Math.max(longest, seconds)
    sum += seconds
  }
  return Math.max(longest, sum / cores) * 1000
}

/** Ended now it would not be paid for in vain: for less than the least time, or for much of a period that has begun. */
function isPaidOff(core: Core, worker: WorkerRecord, drainMs: number): boolean {
  const { minimumMs = 0, periodMs = 0 } = core.billing
  const endsAfterMs = core.now - worker.since + drainMs
  if (endsAfterMs < minimumMs) return false
  if (periodMs === 0) return true
  const leftMs = periodMs - (endsAfterMs % periodMs)
  return leftMs <= Math.max(2 * core.scaler.everyMs, periodMs / 10)
}
