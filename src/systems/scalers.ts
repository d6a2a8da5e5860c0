/** All scaling policies by name, and what describes one. */

import type { Billing } from '../brain/scale/billing.ts'
import { checkBounds } from '../brain/scale/bounds.ts'
import { fixed } from '../brain/scale/fixed.ts'
import { hpa } from '../brain/scale/hpa.ts'
import { kpa } from '../brain/scale/kpa.ts'
import { type PlanStep, planned } from '../brain/scale/planned.ts'
import type { Scaler } from '../brain/scale/scaler.ts'
import { type Wander, wandering } from '../brain/scale/wandering.ts'
import { type Tuning, workForecast } from '../brain/scale/work-forecast.ts'
import { type LowCpuRule, onMisfit } from './cloudprime/on-misfit.ts'
import { cpuEma } from './cnv/cpu-ema.ts'
import { cpuStep } from './ecowork/cpu-step.ts'
import { averageWork } from './hillclimbing/average-work.ts'
import { queueLength } from './tiered/queue-length.ts'
import type { TierSpec } from './tiered/tiers.ts'

export interface ScaleSpec {
  /** The least and the most workers. */
  min: number
  max: number
  /** Default: `fixed`. */
  policy?: ScalerName
  /** The share of the cores that is to be busy, for policies that go by one. */
  target?: number
  /** Of `work-forecast`: what clients are promised, in words; see `promise.ts`. */
  promise?: string
  /** What a worker costs, where the promise has a budget. */
  pricePerHour?: number
  /** How long a worker takes to boot, until that has been learned. */
  bootMs?: number
  /** Of `planned`: how many workers from when on. */
  plan?: readonly PlanStep[]
  /** Of `wandering`. */
  wander?: Wander
  /** Of `queue-length`. */
  tiers?: Partial<TierSpec>
  /** Of `on-misfit`. */
  lowCpu?: Partial<LowCpuRule>
  /** Of `cpu-ema`, `average-work` and `cpu-step`: how often they look, and how often whether those that are to go are done. */
  everyMs?: number
  checkMs?: number
  /** Of `average-work`: the most work that a worker may have in hand. */
  mostWork?: number
  billing?: Billing
  /** Of `cpu-ema`: what a worker may carry, above which queued work is worth two. */
  workerWork?: number
  /** Of `work-forecast`: other constants than its own, for experiments. */
  tuning?: Partial<Tuning>
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

/** The policy that the description names, whose name must be known. */
export function scalerOf(spec: ScaleSpec): Scaler {
  checkBounds(spec)
  return scalers[spec.policy ?? 'fixed'](spec)
}
