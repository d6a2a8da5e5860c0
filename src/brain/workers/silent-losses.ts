/**
 * Silence alone is weak evidence. If a large part of the fleet is silent at once, the brain or its network is more likely
 * at fault than the workers. They are then kept for longer, and lost a part at a time.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Reason } from '../../model/reason.ts'
import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'

interface Silence {
  silentMs: number
  /** Its limit. */
  limitMs: number
  /** True: another worker seems to be silent, too. */
  isSilent(other: WorkerRecord): boolean
}

/** Why a worker that has been silent for too long is not declared lost; undefined: it is. */
export function whyKept(
  core: Core,
  worker: WorkerRecord,
  { silentMs, limitMs, isSilent }: Silence,
): Reason | undefined {
  const rule = core.limits.silentLosses
  // A connection that broke is positive evidence.
  if (!rule || worker.unreachable) return undefined
  const lost = recentLosses(core)
  let silent = lost
  for (const other of core.workers.values())
    if (other === worker || (!other.unreachable && isSilent(other))) silent++
  const of = core.workers.size + lost
  const most = rule.share * of
  if (silent <= most) return undefined
  if (silentMs >= rule.patience * limitMs && lost + 1 <= Math.max(1, most)) return undefined
  return { code: 'kept-silent', silentMs: thousandths(silentMs), silent, of, percent: rule.share * 100 }
}

/** The worker is about to be lost for its silence alone. */
export function noteSilentLoss({ limits, silentLosses, now }: Core, { unreachable }: WorkerRecord): void {
  if (limits.silentLosses && !unreachable) silentLosses.push(now)
}

/** Losses within the time in which a worker falls silent count as losses at once. */
function recentLosses({ silentLosses, now, limits: { beatMs, missedBeats } }: Core): number {
  while (silentLosses.length > 0 && silentLosses[0]! <= now - beatMs * missedBeats) silentLosses.shift()
  return silentLosses.length
}
