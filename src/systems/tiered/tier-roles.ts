/** Who becomes a front or a middle, and who may leave. */

import type { AssignedRole, FleetView, LeaveRequest, LeaveVerdict, Roles } from '../../brain/scale/scaler.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { Reason } from '../../model/reason.ts'
import type { EndingRule, Role, TierSizes, TierSpec } from './tiers.ts'

/** The process of the brain: a front that is not a worker and never leaves. */
export const coordinator = 'coordinator'

export class TierRoles implements Roles {
  readonly #rule: TierSpec
  readonly #missing: TierSizes
  /** When a node was last allowed to leave. */
  #grantedAt: number | undefined
  granted = 0
  denied = 0

  /** `missing` is shared with the scaler: nodes of each role that are to come. */
  constructor(rule: TierSpec, missing: TierSizes) {
    this.#rule = rule
    this.#missing = missing
  }

  assign(view: FleetView): AssignedRole {
    const { front, middle } = this.#missing
    const noMiddle = view.ready === view.inRole('front')
    const role: Role = noMiddle || front === 0 || middle >= front ? 'middle' : 'front'
    const code = noMiddle ? 'tier-first' : front + middle === 0 ? 'tier-usual' : 'tier-missing'
    this.#missing[role] = Math.max(0, this.#missing[role] - 1)
    const reason = code === 'tier-missing' ? { code, front, middle } : { code }
    return { role, takesJobs: role === 'middle', reason }
  }

  settingsOf(role: string): EndingRule {
    return this.#rule.ending[role as Role]
  }

  mayLeave({ worker, role, why, ms }: LeaveRequest, view: FleetView, now: number): LeaveVerdict | undefined {
    const asking = worker === coordinator ? coordinator : (role as Role | undefined)
    if (!asking) return undefined
    const denied = this.#whyNot(asking, view, now)
    if (denied) {
      this.denied++
      return { granted: false, reason: denied }
    }
    this.#grantedAt = now
    this.granted++
    return { granted: true, reason: { code: why === 'slow' ? 'asked-slow' : 'asked-idle', ms } }
  }

  #whyNot(asking: Role | typeof coordinator, view: FleetView, now: number): Reason | undefined {
    if (asking === coordinator) return { code: 'coordinator' }
    const { minFront, minMiddle, endEveryMs } = this.#rule
    const fronts = view.inRole('front')
    // The coordinator remains as a front.
    const left = asking === 'front' ? fronts : view.ready - fronts - 1
    const least = asking === 'front' ? minFront : minMiddle
    if (left < least) return { code: 'too-few', role: asking, left, least }
    const sinceMs = this.#grantedAt === undefined ? Infinity : now - this.#grantedAt
    if (sinceMs < endEveryMs) return { code: 'too-often', sinceMs: thousandths(sinceMs), everyMs: endEveryMs }
    return undefined
  }
}
