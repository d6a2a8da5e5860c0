/** What a preset is: a composition of policies and their constants, and words about it. */

import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { BrainLimits } from '../brain/limits.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Following, MeterSetting } from '../model/metering.ts'
import type { RepeatOptions } from '../wire/front-settings.ts'
import type { EstimatorSpec } from './estimators.ts'
import type { ScaleSpec } from './scalers.ts'
import type { PlacingOptions, SchedulerName } from './schedulers.ts'

export interface Preset {
  /** One line for people. */
  description: string
  /** A few more: where it comes from, what it does, what its authors found. */
  about?: readonly string[]
  scheduler: SchedulerName
  placing?: PlacingOptions
  discipline: DisciplineName
  /** At least so many jobs may be in a worker's hands. Default: what `up` says. */
  slots?: number
  /** Its own number of workers, and how that is decided. Default: what `up` says. */
  scale?: ScaleSpec
  limits?: Partial<BrainLimits>
  /** How work is counted, and what of it is told while jobs run. */
  meter?: MeterSetting
  following?: Following
  /** Default: what is learned. */
  estimator?: EstimatorSpec
  /** Who goes to functions, and how many at a time; `perWorkload`: each workload has functions of its own. Default: nobody. */
  overflow?: Pick<OverflowOptions, 'concurrency'> & Partial<OverflowOptions> & { perWorkload?: boolean }
  /** Workloads that are not metered in functions: what they cost there is not learned from. */
  unmeteredAway?: readonly string[]
  /** Whether answers are kept and given again. Default: no. */
  repeats?: RepeatOptions
  /** True: what the brain decides is logged, each line by the component that it is of. */
  componentLog?: boolean
  /** The ready workloads that it is about. Default: all. */
  workloads?: readonly string[]
  /** What makes it work in minutes on a laptop: for demos. */
  trial?: { timeScale: number; workScale: number }
  /** The machine that its constants were found on: work a second of a core, cores, and how long one takes to boot. */
  machine?: { workPerSecond: number; cores: number; bootMs: number }
}

/** Divides times, and amounts of work, so that a system of minutes can be tried in seconds. */
export interface Scales {
  ms(ms: number): number
  work(units: number): number
}

export type PresetMaker = (scales: Scales) => Preset
