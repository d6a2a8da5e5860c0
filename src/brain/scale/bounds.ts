/** The minimum and maximum number of workers, which take precedence over any policy. */

import { ConfigError } from '../../lib/errors.ts'
import type { FleetView, ScaleDecision, ScaleOptions } from './scaler.ts'

export function checkBounds({ min, max }: Pick<ScaleOptions, 'min' | 'max'>): void {
  if (!(Number.isInteger(min) && min >= 0))
    throw new ConfigError(`scale.min = ${min}: must be a whole number, 0 or more`)
  if (!(Number.isInteger(max) && max >= min))
    throw new ConfigError(`scale.max = ${max}: must be a whole number, at least scale.min (${min})`)
}

/** The decision for a fleet outside its bounds; undefined: it is within them. */
export function backInto(
  { min, max }: ScaleOptions,
  { ready, booting }: FleetView,
): ScaleDecision | undefined {
  const have = ready + booting
  if (have < min) return { kind: 'scale', to: min, reason: { code: 'below-min', have, min } }
  if (have > max) return { kind: 'scale', to: max, reason: { code: 'above-max', have, max } }
  return undefined
}

export function hold(have: number): ScaleDecision {
  return { kind: 'hold', reason: { code: 'enough', have } }
}

/** Between two decisions lost workers are replaced, up to the number last decided. */
export function replaceLost(have: number, wanted: number | null): ScaleDecision {
  if (wanted === null || have >= wanted) return hold(have)
  return { kind: 'scale', to: wanted, reason: { code: 'replace', have, wanted } }
}

export function within({ min, max }: ScaleOptions, workers: number): number {
  return Math.min(max, Math.max(min, workers))
}

export interface TargetOptions extends ScaleOptions {
  /** The share of the cores that should be busy. */
  target?: number
}

export function targetOf({ target }: TargetOptions, usual: number): number {
  if (target === undefined) return usual
  if (target > 0 && target < Infinity) return target
  throw new ConfigError(`scale.target = ${target}: must be a number above 0`)
}

export function percentOf(share: number): number {
  return Math.round(share * 100)
}
