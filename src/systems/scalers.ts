/** All scaling policies by name: those of the core, and those of the systems. */

import { checkBounds } from '../brain/scale/bounds.ts'
import { fixed } from '../brain/scale/fixed.ts'
import { type HpaOptions, hpa } from '../brain/scale/hpa.ts'
import { type KpaOptions, kpa } from '../brain/scale/kpa.ts'
import { type PlannedOptions, planned } from '../brain/scale/planned.ts'
import type { Scaler } from '../brain/scale/scaler.ts'
import { type WanderingOptions, wandering } from '../brain/scale/wandering.ts'
import { type ForecastOptions, workForecast } from '../brain/scale/work-forecast.ts'
import { type OnMisfitOptions, onMisfit } from './cloudprime/on-misfit.ts'
import { type CpuEmaOptions, cpuEma } from './cnv/cpu-ema.ts'
import { type CpuStepOptions, cpuStep } from './ecowork/cpu-step.ts'
import { type AverageWorkOptions, averageWork } from './hillclimbing/average-work.ts'
import { type QueueLengthOptions, queueLength } from './tiered/queue-length.ts'

/** A policy and the options of all policies. A policy ignores those of others. */
export interface ScaleSpec
  extends HpaOptions,
    KpaOptions,
    ForecastOptions,
    PlannedOptions,
    WanderingOptions,
    QueueLengthOptions,
    OnMisfitOptions,
    CpuEmaOptions,
    AverageWorkOptions,
    CpuStepOptions {
  /** Default: `fixed`. */
  policy?: ScalerName
}

export const scalers = {
  fixed,
  'work-forecast': workForecast,
  hpa,
  kpa,
  planned,
  wandering,
  'queue-length': queueLength,
  'on-misfit': onMisfit,
  'cpu-ema': cpuEma,
  'average-work': averageWork,
  'cpu-step': cpuStep,
} satisfies Record<string, (spec: ScaleSpec) => Scaler>

export type ScalerName = keyof typeof scalers

/** The policy that the spec names, which must be known. */
export function scalerOf(spec: ScaleSpec): Scaler {
  checkBounds(spec)
  return scalers[spec.policy ?? 'fixed'](spec)
}
