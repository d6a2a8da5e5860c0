/** All scheduling policies by name: those of the core, and those of the systems. */

import { leastConnections } from '../brain/schedule/least-connections.ts'
import { leastWork } from '../brain/schedule/least-work.ts'
import { prequal } from '../brain/schedule/prequal.ts'
import { roundRobin } from '../brain/schedule/round-robin.ts'
import type { SchedulerFactory } from '../brain/schedule/scheduler.ts'
import { srpt } from '../brain/schedule/srpt.ts'
import { twoChoices } from '../brain/schedule/two-choices.ts'
import { type PassiveChecks, weightedRoundRobin } from '../brain/schedule/weighted-round-robin.ts'
import { type ClassLimitsOptions, classLimits } from './cloudprime/class-limits.ts'
import { type PackSpreadOptions, packSpread } from './cnv/pack-spread.ts'
import { type GuardedOptions, leastWorkGuarded } from './ecowork/least-work-guarded.ts'
import { type CappedOptions, leastWorkCapped } from './hillclimbing/least-work-capped.ts'
import { centralQueue } from './tiered/central-queue.ts'

/** The options of all policies. A policy ignores those of others. */
export interface PlacingOptions
  extends ClassLimitsOptions,
    PackSpreadOptions,
    GuardedOptions,
    CappedOptions,
    PassiveChecks {}

export const schedulers = {
  'round-robin': roundRobin,
  'weighted-round-robin': weightedRoundRobin,
  'least-connections': leastConnections,
  'least-work': leastWork,
  'two-choices': twoChoices,
  prequal,
  srpt,
  'central-queue': centralQueue,
  'class-limits': classLimits,
  'pack-spread': packSpread,
  'least-work-capped': leastWorkCapped,
  'least-work-guarded': leastWorkGuarded,
} satisfies Record<string, SchedulerFactory<PlacingOptions>>

export type SchedulerName = keyof typeof schedulers
