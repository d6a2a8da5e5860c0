/**
 * The tiered system's scaling, by the length of the queues, in two tiers. It starts with the best number for the hour,
 * and adds middles and a few fronts when the queues are long. It never removes a node: nodes ask to leave, and it
 * grants or denies that.
 */

import { hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, ScaleOptions, Scaler } from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Reason } from '../../model/reason.ts'
import { TierRoles } from './tier-roles.ts'
import { hourOf, startSizes, type TierSizes, type TierSpec, tierSpecOf } from './tiers.ts'

export interface QueueLengthOptions extends ScaleOptions {
  tiers?: Partial<TierSpec>
}

export function queueLength(spec: QueueLengthOptions): Scaler {
  const rule = tierSpecOf(spec.tiers)
  const least = rule.minFront - 1 + rule.minMiddle
  if (spec.max < least)
    throw new ConfigError(`scale.max = ${spec.max}: must be at least ${least}, the minimum of both tiers`)
  const missing = new MissingNodes(rule, spec)
  const roles = new TierRoles(rule, missing.sizes)
  let hasStarted = false
  let nextAt = 0
  return {
    name: 'queue-length',
    everyMs: rule.everyMs,
    roles,
    decide(view, now): ScaleDecision {
      let reason = hasStarted ? undefined : missing.start(now)
      hasStarted = true
      const drop = now >= nextAt ? { drop: rule.dropAfterMs } : undefined
      // Requests dropped at this check still count as queued.
      if (drop) {
        nextAt = now + rule.everyMs
        reason = missing.grow(view) ?? reason
      }
      missing.bound(view)
      const count = missing.count - view.booting
      if (count > 0) {
        reason ??= { code: 'tiers-replace', ...missing.sizes }
        return { kind: 'steps', reason, launch: { count, reason }, ...drop }
      }
      const rest = hold(1 + view.ready + view.booting)
      return drop ? { kind: 'steps', reason: rest.reason, ...drop } : rest
    },
    lost(_, __, role) {
      if (role === 'front' || role === 'middle') missing.sizes[role]++
    },
    figures: () => ({
      ...{ 'missing fronts': missing.sizes.front, 'missing middles': missing.sizes.middle },
      ...{ 'ends allowed': roles.granted, 'ends refused': roles.denied },
    }),
  }
}

/** Nodes of each role that are booting or still to be launched. The coordinator exists from the start. */
class MissingNodes {
  readonly sizes: TierSizes = { front: 0, middle: 0 }
  readonly #rule: TierSpec
  readonly #spec: ScaleOptions

  constructor(rule: TierSpec, spec: ScaleOptions) {
    this.#rule = rule
    this.#spec = spec
  }

  get count(): number {
    return this.sizes.front + this.sizes.middle
  }

  /** The best number for this hour. */
  start(now: number): Reason {
    const hour = hourOf(now, this.#rule.hourMs)
    const servers = this.#rule.hours[hour]!
    const { front, middle } = startSizes(servers, this.#rule)
    this.sizes.front += front - 1
    this.sizes.middle += middle
    return { code: 'tiers-start', hour, servers, front, middle }
  }

  /** Adds nodes for what is queued. */
  grow({ ready, waiting: queued }: FleetView): Reason | undefined {
    const { perServer, middlesPerFront } = this.#rule
    const servers = 1 + ready + this.count
    const room = Math.max(0, 1 + this.#spec.max - servers)
    let middle = Math.max(0, Math.floor(queued - perServer * servers))
    let front = Math.floor(middle / middlesPerFront)
    if (middle + front > room) {
      front = Math.floor(room / (1 + middlesPerFront))
      middle = room - front
    }
    this.sizes.front += front
    this.sizes.middle += middle
    return middle > 0 ? { code: 'queue-long', queued, servers, middle, front } : undefined
  }

  /** Keeps each tier at its minimum, and both together within the bounds of the fleet. */
  bound(view: FleetView): void {
    const { sizes } = this
    const { minFront, minMiddle } = this.#rule
    const fronts = view.inRole('front')
    const needed: TierSizes = {
      front: Math.max(0, minFront - 1 - fronts),
      middle: Math.max(0, minMiddle - (view.ready - fronts)),
    }
    for (const role of ['front', 'middle'] as const) sizes[role] = Math.max(sizes[role], needed[role])
    const short = this.#spec.min - view.ready - this.count
    if (short > 0) sizes.middle += short
    let over = view.ready + this.count - this.#spec.max
    for (const role of ['front', 'middle'] as const) {
      const less = Math.min(sizes[role] - needed[role], Math.max(0, over))
      sizes[role] -= less
      over -= less
    }
  }
}
