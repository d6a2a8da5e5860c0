/** Single launches: how they begin, fail and end. */

import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import { clearTimer, setTimer } from '../timers.ts'

/** After this many boots, a launch may take this many times as long as usual, and at least this time. */
const [enoughBoots, patience, leastBootMs] = [5, 5, 10_000]

/** Returns the launch's name. */
export function launch(core: Core, reason: Reason): string {
  const id = `${core.epoch}-${++core.seqs.launch}`
  const timer = setTimer(core, { kind: 'launch', id }, core.now + bootLimitMs(core))
  core.launches.set(id, { id, at: core.now, timer })
  core.actions.push({ type: 'launch', launch: id, reason })
  return id
}

/** The launch has joined, failed or is no longer wanted. False: it is not known. */
export function endLaunch(core: Core, id: string): boolean {
  const known = core.launches.get(id)
  if (!known) return false
  clearTimer(core, known.timer)
  return core.launches.delete(id)
}

/** The launch has failed. The next one waits, longer after each failure in a row. */
export function failLaunch(core: Core, id: string, reason: Reason): void {
  const known = core.launches.get(id)
  if (!known || !endLaunch(core, id)) return
  core.actions.push({ type: 'abandon', launch: id, reason })
  if (known.adopted) {
    // It was up once, so launches need not pause because it has ended.
    core.rescale = true
    return
  }
  const { backoffMs, backoffMaxMs } = core.limits
  // Failures during a pause count as the one that began it.
  if (core.now >= core.launchNotBefore) core.launchFailures++
  const pauseMs = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(core.launchFailures - 1, 50))
  core.launchNotBefore = core.now + pauseMs
  setTimer(core, { kind: 'scale', id: '' }, core.launchNotBefore)
}

/** The boot timeout. Once boot times are known, it is far shorter than the configured one. */
export function bootLimitMs({ boots, limits, launchFailures }: Core): number {
  // With pings, the number of pings that a new worker may miss is the limit.
  const usual = limits.pings || boots.count < enoughBoots ? undefined : boots.percentile(90)
  if (usual === undefined) return limits.bootMs
  // Boots may have become slower, so each failure doubles the time.
  const waitMs = Math.max(leastBootMs, patience * usual) * 2 ** Math.min(launchFailures, 20)
  return Math.min(limits.bootMs, waitMs)
}
