/** A preset: a named composition of policies with their constants, and a description. */

import { parse } from 'node:path'
import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { BrainLimits } from '../brain/limits.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Following, MeterSetting } from '../model/metering.ts'
import type { RepeatOptions } from '../wire/front-settings.ts'
import type { Constants } from './constants.ts'
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
  /** The least number of slots of a worker. Default: that of `up`. */
  slots?: number
  /** Scaling with its bounds. Default: that of `up`. */
  scale?: ScaleSpec
  /** True: `scale.max` is for simulations; live, the maximum is that of `up`. */
  simulatedMax?: boolean
  limits?: Partial<BrainLimits>
  /** How work is metered, and what workers report of it while jobs run. */
  meter?: MeterSetting
  following?: Following
  /** Default: learned models. */
  estimator?: EstimatorSpec
  /** Which jobs overflow, and the concurrency of functions; `perWorkload`: each workload has its own. Default: none. */
  overflow?: Pick<OverflowOptions, 'concurrency'> & Partial<OverflowOptions> & { perWorkload?: boolean }
  /** The Lambda function of each workload. Default: one for all. */
  lambdaFunctions?: Readonly<Record<string, string>>
  /** Workloads that functions do not meter: their cost there is not learned. */
  unmeteredAway?: readonly string[]
  /** The cache of answers. Default: none. */
  repeats?: RepeatOptions
  /** The decisions of the brain are logged by component, in files whose names begin so. Default: no logs. */
  componentLog?: string
  /** The bundled workloads that it is about. Default: all. */
  workloads?: readonly string[]
  /** Scales with which it runs in minutes on a laptop. */
  trial?: { timeScale: number; workScale: number }
  /** The machine of its authors: work per second of a core, cores, and boot time. */
  machine?: { workPerSecond: number; cores: number; bootMs: number }
}

/** Divides times and amounts of work, so that a system of minutes can be tried in seconds. */
export interface Scales {
  ms(ms: number): number
  work(units: number): number
  /** In place of measured constants of the preset. Not scaled. */
  constants?: Constants
}

/**
 * The time to answer a ping that is sent this often, of 3 s where times are not divided. A process does not answer faster
 * because they are, so it gets at least 0.5 s, as far as the pings allow.
 */
export function pongMs({ ms }: Pick<Scales, 'ms'>, everyMs: number): number {
  return Math.max(ms(3_000), Math.min(500, everyMs * 0.8))
}

export type PresetMaker = (scales: Scales) => Preset

/** The preset's meter, without what it says of bundled workloads that are not served. */
export function ofServed(meter: MeterSetting, files: readonly string[]): MeterSetting {
  if (meter === 'off' || !meter.only) return meter
  const served = new Set(files.map((file) => parse(file).name))
  return {
    ...meter,
    only: Object.fromEntries(Object.entries(meter.only).filter(([name]) => served.has(name))),
  }
}
