/** What a preset is: a composition of policies and their constants, and words about it. */

import type { BrainLimits } from '../brain/core.ts'
import type { OverflowOptions } from '../brain/overflow-spec.ts'
import type { ScaleSpec } from '../brain/scale/index.ts'
import type { SchedulerName } from '../brain/schedule/index.ts'
import type { PlacingSpec } from '../brain/schedule/scheduler.ts'
import type { Ruled } from '../estimate/ruled.ts'
import type { DisciplineName } from '../worker/discipline.ts'
import type { Following, MeterSetting } from '../worker/metering.ts'

export interface Preset {
  /** One line for people. */
  description: string
  /** A few more: where it comes from, what it does, what its authors found. */
  about?: readonly string[]
  scheduler: SchedulerName
  placing?: PlacingSpec
  discipline: DisciplineName
  /** Its own number of workers, and how that is decided. Default: what `up` says. */
  scale?: ScaleSpec
  limits?: Partial<BrainLimits>
  /** How work is counted, and what of it is told while jobs run. */
  meter?: MeterSetting
  following?: Following
  /** Default: what is learned. */
  estimator?: Ruled
  /** Who goes to functions, and how many at a time. Default: nobody. */
  overflow?: Pick<OverflowOptions, 'concurrency'> & Partial<OverflowOptions>
  /** Workloads that are not metered in functions: what they cost there is not learned from. */
  unmeteredAway?: readonly string[]
  /** The ready workloads that it is about. Default: all. */
  workloads?: readonly string[]
  /** The machine that its constants were found on: work a second of a core, cores, and how long one takes to boot. */
  machine?: { workPerSecond: number; cores: number; bootMs: number }
}

/** Divides times, and amounts of work, so that a system of minutes can be tried in seconds. */
export interface Scales {
  ms(ms: number): number
  work(units: number): number
}

export type PresetMaker = (scales: Scales) => Preset
