/** The tiers of a run with faults: their sizes, their timeouts, and the lanes of its jobs. */

import { stream } from '../lib/random.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { SchedulerName } from '../systems/schedulers.ts'

export interface ChaosTiers {
  scale: ScaleSpec
  /** The lane of the next job. */
  lane(): { lane?: string }
}

/** Half of the scenarios with the tiered system's scheduler have tiers. */
export function tiersFrom(
  seed: number,
  scheduler: SchedulerName,
  { min, max }: ScaleSpec,
): ChaosTiers | undefined {
  if (scheduler !== 'central-queue') return undefined
  const random = stream(seed, 'tiers')
  if (random.next() < 0.5) return undefined
  const minMiddle = 1 + random.below(min)
  const often = (ms: number) => ms * (0.1 + random.next() ** 2 * 3)
  const tiers = {
    hours: Array.from({ length: 24 }, () => random.below(12)),
    hourMs: often(5000),
    minMiddle,
    minFront: min - minMiddle + 1,
    everyMs: often(1000),
    perServer: 0.1 + random.next() * 2,
    middlesPerFront: 1 + random.below(4),
    dropAfterMs: { browse: often(800), purchase: often(1800) },
    endEveryMs: often(700),
    ending: {
      front: { idleMs: often(1000), gapMs: often(500), gaps: 1 + random.below(3) },
      middle: { idleMs: often(2000), gapMs: often(700), gaps: 1 + random.below(3) },
    },
  }
  return {
    scale: { min, max, policy: 'queue-length', tiers },
    lane: () => (random.next() < 0.9 ? { lane: random.next() < 0.7 ? 'browse' : 'purchase' } : {}),
  }
}
