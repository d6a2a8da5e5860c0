/**
 * As many nodes as the queues ask for, in two tiers. It starts with what was best at that hour, and adds middles, and a
 * few fronts, when the queues are long. It takes nobody away: nodes ask to end themselves, and it says yes or no.
 */

import { hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, Scaler, Tiers } from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { Reason } from '../../model/reason.ts'
import type { Role } from '../../model/worker.ts'
import type { ScaleSpec } from '../scalers.ts'
import { hourOf, startSizes, type TierSizes, tierSpecOf } from './tiers.ts'

interface State {
  started: boolean
  /** Nodes of each role that are to come: they boot, or are still to be launched. */
  missing: TierSizes
  nextAt: number
  /** When a node was last allowed to end, and how often that was said and refused. */
  endedAt: number | null
  ends: number
  refusals: number
}

export function queueLength(spec: ScaleSpec): Scaler {
  const rule = tierSpecOf(spec.tiers)
  const { minFront, minMiddle, everyMs, perServer, middlesPerFront, dropAfterMs, endEveryMs, ending } = rule
  const least = minFront - 1 + minMiddle
  if (spec.max < least)
    throw new ConfigError(`scale.max = ${spec.max}: must be at least ${least}, for the fewest of each tier`)
  let state: State = {
    ...{ started: false, missing: { front: 0, middle: 0 }, nextAt: 0 },
    ...{ endedAt: null, ends: 0, refusals: 0 },
  }

  /** As many as were best at this hour; the coordinator is there. */
  const start = (now: number): Reason => {
    const hour = hourOf(now, rule.hourMs)
    const servers = rule.hours[hour]!
    const { front, middle } = startSizes(servers, rule)
    state.missing.front += front - 1
    state.missing.middle += middle
    state.started = true
    return { code: 'tiers-start', hour, servers, front, middle }
  }

  /** More for what waits. */
  const grow = (view: FleetView): Reason | undefined => {
    const servers = 1 + view.ready + state.missing.front + state.missing.middle
    const queued = view.waiting
    const room = Math.max(0, 1 + spec.max - servers)
    let middle = Math.max(0, Math.floor(queued - perServer * servers))
    let front = Math.floor(middle / middlesPerFront)
    if (middle + front > room) {
      front = Math.floor(room / (1 + middlesPerFront))
      middle = room - front
    }
    state.missing.front += front
    state.missing.middle += middle
    return middle > 0 ? { code: 'queue-long', queued, servers, middle, front } : undefined
  }

  /** Each tier has its fewest, and both together no more than may be. */
  const bound = (view: FleetView): void => {
    const { missing } = state
    const needed: TierSizes = {
      front: Math.max(0, minFront - 1 - view.fronts),
      middle: Math.max(0, minMiddle - (view.ready - view.fronts)),
    }
    for (const role of ['front', 'middle'] as const) missing[role] = Math.max(missing[role], needed[role])
    const short = spec.min - view.ready - missing.front - missing.middle
    if (short > 0) missing.middle += short
    let over = view.ready + missing.front + missing.middle - spec.max
    for (const role of ['front', 'middle'] as const) {
      const less = Math.min(missing[role] - needed[role], Math.max(0, over))
      missing[role] -= less
      over -= less
    }
  }

  const tiers: Tiers = {
    ending,
    roleFor(view) {
      const { front, middle } = state.missing
      const none = view.ready === view.fronts
      const role: Role = none || front === 0 || middle >= front ? 'middle' : 'front'
      const code = none ? 'tier-first' : front + middle === 0 ? 'tier-usual' : 'tier-missing'
      state.missing[role] = Math.max(0, state.missing[role] - 1)
      return { role, reason: code === 'tier-missing' ? { code, front, middle } : { code } }
    },
    refuses(role, view, now) {
      const refused = whyNot(role, view, now)
      if (refused) state.refusals++
      else {
        state.endedAt = now
        state.ends++
      }
      return refused
    },
  }

  const whyNot = (role: Role | 'coordinator', view: FleetView, now: number): Reason | undefined => {
    if (role === 'coordinator') return { code: 'coordinator' }
    const left = role === 'front' ? view.fronts : view.ready - view.fronts - 1
    const fewest = role === 'front' ? minFront : minMiddle
    if (left < fewest) return { code: 'too-few', role, left, least: fewest }
    const sinceMs = state.endedAt === null ? Infinity : now - state.endedAt
    if (sinceMs < endEveryMs) return { code: 'too-often', sinceMs: thousandths(sinceMs), everyMs: endEveryMs }
    return undefined
  }

  return {
    name: 'queue-length',
    everyMs,
    tiers,
    decide(view, now): ScaleDecision {
      let reason = state.started ? undefined : start(now)
      const drop = now >= state.nextAt ? { drop: dropAfterMs } : undefined
      // What is dropped now has been asked for: it counts.
      if (drop) {
        state.nextAt = now + everyMs
        reason = grow(view) ?? reason
      }
      bound(view)
      const { front, middle } = state.missing
      const count = front + middle - view.booting
      if (count > 0) {
        reason ??= { code: 'tiers-replace', front, middle }
        return { kind: 'steps', reason, launch: { count, reason }, ...drop }
      }
      const rest = hold(1 + view.ready + view.booting)
      return drop ? { kind: 'steps', reason: rest.reason, ...drop } : rest
    },
    lost(_, __, role) {
      if (role) state.missing[role]++
    },
    tells: () => ({
      ...{ 'missing fronts': state.missing.front, 'missing middles': state.missing.middle },
      ...{ 'ends allowed': state.ends, 'ends refused': state.refusals },
    }),
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}
