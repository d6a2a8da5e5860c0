/** Brings the fleet to the size that the scaling policy wants: launches, launches that fail, and scale-in. */

import type { Reason } from '../model.ts'
import { type Core, endLaunch, setTimer } from './core.ts'
import { drain } from './workers.ts'

export function resize(core: Core): void {
  const { scaler, now } = core
  const booting = core.launches.size
  const view = { ready: core.ready, booting, draining: core.draining.size, waiting: core.waiting.size }
  const decision = scaler.decide(view, now)
  if (decision.kind === 'hold') return
  const missing = decision.to - core.ready - booting
  if (missing < 0) drainSome(core, -missing, decision.reason)
  if (now < core.launchNotBefore) return
  for (let i = 0; i < missing; i++) {
    const id = `${core.epoch}-${++core.seqs.launch}`
    const timer = setTimer(core, { kind: 'launch', id }, now + core.limits.bootMs)
    core.launches.set(id, { id, at: now, timer })
    core.actions.push({ type: 'launch', launch: id, reason: decision.reason })
  }
}

/** A launch failed, or has not joined in time. The next try waits, longer after each failure in a row. */
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

/** Those with the fewest jobs go first; among equals the youngest. */
function drainSome(core: Core, count: number, reason: Reason): void {
  const ready = [...core.workers.values()].filter((worker) => worker.state === 'ready')
  ready.sort((a, b) => a.jobs.length - b.jobs.length || b.number - a.number)
  for (const worker of ready.slice(0, count)) drain(core, worker.id, reason)
}
