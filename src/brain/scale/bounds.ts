/** The least and the most workers, which hold whatever a policy wants. */

import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import type { FleetView, ScaleDecision } from './scaler.ts'

export function checkBounds({ min, max }: Pick<ScaleSpec, 'min' | 'max'>): void {
  if (!(Number.isInteger(min) && min >= 0))
    throw new ConfigError(`scale.min = ${min}: must be a whole number, 0 or more`)
  if (!(Number.isInteger(max) && max >= min))
    throw new ConfigError(`scale.max = ${max}: must be a whole number, at least scale.min (${min})`)
}

/** Where the fleet is out of bounds they alone decide; undefined: it is within them. */
export function backInto({ min, max }: ScaleSpec, { ready, booting }: FleetView): ScaleDecision | undefined {
  const have = ready + booting
  if (have < min) return { kind: 'scale', to: min, reason: { code: 'below-min', have, min } }
  if (have > max) return { kind: 'scale', to: max, reason: { code: 'above-max', have, max } }
  return undefined
}

/** Nothing is to change. */
export function hold(have: number): ScaleDecision {
  return { kind: 'hold', reason: { code: 'enough', have } }
}

/** Between two looks: whoever is lost is replaced, up to what was wanted last. */
export function between(have: number, wanted: number | null): ScaleDecision {
  if (wanted === null || have >= wanted) return hold(have)
  return { kind: 'scale', to: wanted, reason: { code: 'replace', have, wanted } }
}

export function within({ min, max }: ScaleSpec, workers: number): number {
  return Math.min(max, Math.max(min, workers))
}

/** A share of the cores, as the user gave it or as is usual. */
export function targetOf({ target }: ScaleSpec, usual: number): number {
  if (target === undefined) return usual
  if (target > 0 && target < Infinity) return target
  throw new ConfigError(`scale.target = ${target}: must be a number above 0`)
}
