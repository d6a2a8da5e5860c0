/** Options of policies for a run with faults, chosen so that its small jobs meet all of their rules. */

import type { BrainLimits } from '../brain/limits.ts'
import { stream } from '../lib/random.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { PlacingOptions, SchedulerName } from '../systems/schedulers.ts'
import { unitsPerSecond } from './simulate.ts'

export interface OwnWays {
  placing?: PlacingOptions
  limits?: Partial<BrainLimits>
  /** Replaces the scaling of the scenario. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
}

/** `beatMs`: the interval between heartbeats. */
export function ownWays(scheduler: SchedulerName, seed: number, beatMs: number): OwnWays {
  return scheduler === 'class-limits' ? classWays(seed, beatMs) : {}
}

function classWays(seed: number, beatMs: number): OwnWays {
  const random = stream(seed, 'classes')
  const intermediate = unitsPerSecond * (0.03 + random.next() * 0.3)
  const classes = {
    intermediate,
    max: intermediate * (1 + random.next() * 8),
    mostIntermediate: 1 + random.below(4),
    mostMax: 1 + random.below(3),
    highCpu: 0.5 + random.next() * 0.4,
    graceMs: 200 + random.next() * 3000,
    mostQueued: 1 + random.below(6),
  }
  const everyMs = 2 * beatMs + random.next() * 1000
  const pings = { everyMs, answerMs: everyMs / 2, most: 2 + random.below(3), mostFresh: 5 }
  const cpuEveryMs = 100 + random.next() * 1000
  // A worker must not count as idle before the request that started it arrives and shows in its CPU.
  const leastIdleMs = classes.graceMs + 2 * (cpuEveryMs + beatMs)
  const times = 1 + random.below(5)
  const lowCpu = {
    everyMs: (leastIdleMs * (1 + random.next())) / times,
    low: random.next() * 0.4,
    high: 0.5 + random.next() * 0.4,
    times,
    spare: 1 + random.below(3),
  }
  return {
    placing: { classes },
    limits: { cpuEveryMs, ...(random.next() < 0.5 && { pings }) },
    ...(random.next() < 0.6 && { scale: { policy: 'on-misfit', lowCpu } }),
  }
}

/** Limits that the jobs of the scenario reach, and classes that are all used. */
export function placingFrom(seed: number): PlacingOptions {
  const random = stream(seed, 'placing')
  const mostWork = unitsPerSecond * 10 ** (random.next() * 2 - 1)
  return {
    mostWork,
    mostJobs: 1 + random.below(6),
    againMs: 50 + random.below(500),
    keepAfterMs: random.next() * 3000,
    workClasses: [
      { name: 'light', mostWork: mostWork / 4 },
      { name: 'heavy', mostWork },
      { name: 'heaviest', mostWork: null },
    ],
  }
}
