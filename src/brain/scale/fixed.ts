import { ConfigError } from '../../errors.ts'
import type { Scaler } from './scaler.ts'

/** As many workers as there are, but at least `min` and at most `max`. */
export function fixed({ min, max }: { min: number; max: number }): Scaler {
  if (!(Number.isInteger(min) && min >= 0))
    throw new ConfigError(`scale.min = ${min}: must be a whole number, 0 or more`)
  if (!(Number.isInteger(max) && max >= min))
    throw new ConfigError(`scale.max = ${max}: must be a whole number, at least scale.min (${min})`)
  return {
    name: 'fixed',
    everyMs: 0,
    decide({ ready, booting }) {
      const have = ready + booting
      if (have < min) return { kind: 'scale', to: min, reason: { code: 'below-min', have, min } }
      if (have > max) return { kind: 'scale', to: max, reason: { code: 'above-max', have, max } }
      return { kind: 'hold', reason: { code: 'within-bounds', have, min, max } }
    },
    save: () => null,
    load: () => {},
  }
}
