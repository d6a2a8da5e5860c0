/** A brain as plain data: the header of an event log, from which the same brain can be built again. */

import { type Brain, createBrain } from '../brain/brain.ts'
import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { RateLimit } from '../brain/jobs/rate-limit.ts'
import type { BrainLimits } from '../brain/limits.ts'
import type { LogHeader } from '../brain/log/log.ts'
import { checkBilling } from '../brain/scale/billing.ts'
import type { Scaler } from '../brain/scale/scaler.ts'
import type { SchedulerFactory } from '../brain/schedule/scheduler.ts'
import { oneOf } from '../lib/one-of.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import { type ScaleSpec, scalerOf, scalers } from './scalers.ts'
import { type PlacingOptions, schedulers } from './schedulers.ts'

export interface BrainSpec {
  /** A name of `schedulers`, or that of the user's policy that takes its place. */
  scheduler: string
  /** Options of the scheduler. Default: its own. */
  placing?: PlacingOptions
  discipline: DisciplineName
  scale: ScaleSpec
  epoch: number
  seed: number
  limits: Partial<BrainLimits>
  /** True: clients share the work fairly. Default: false. */
  fair?: boolean
  rateLimit?: RateLimit
  /** Functions that run what would queue. Default: none. */
  overflow?: OverflowOptions
}

/** Policies in place of the ones in the spec. Event logs do not contain them, so they cannot be replayed. */
export interface OwnPolicies {
  scheduler?: SchedulerFactory | undefined
  scaler?: Scaler | undefined
}

export function brainOf(spec: BrainSpec, own: OwnPolicies = {}): Brain {
  const { scheduler, placing, discipline, scale, epoch, seed, limits, fair, rateLimit, overflow } = spec
  oneOf('scale.policy', scale.policy ?? 'fixed', scalers)
  return createBrain({
    scheduler: own.scheduler ?? oneOf('scheduler', scheduler, schedulers),
    discipline: oneOf('discipline', discipline, disciplines).name,
    ...(placing && { placing }),
    scaler: own.scaler ?? scalerOf(scale),
    mostWorkers: scale.max,
    ...(scale.billing && { billing: checkBilling(scale.billing) }),
    epoch,
    seed,
    limits,
    ...(fair && { fair }),
    ...(rateLimit && { rateLimit }),
    ...(overflow && { overflow }),
  })
}

/** The description in a log's header. Unchecked: `brainOf` rejects unknown policies by name. */
export function loggedBrain({ brain }: LogHeader): BrainSpec {
  return brain as BrainSpec
}

/** The discipline that a scheduler expects its workers to follow. */
export function usualDiscipline(scheduler: string): DisciplineName {
  return scheduler === 'srpt' ? 'srpt' : 'sharing'
}
