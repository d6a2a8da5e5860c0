import { backInto } from './bounds.ts'
import type { ScaleOptions, Scaler } from './scaler.ts'

/** Keeps the number of workers, within `min` and `max`. */
export function fixed(spec: ScaleOptions): Scaler {
  const { min, max } = spec
  return {
    name: 'fixed',
    everyMs: 0,
    decide(view) {
      const have = view.ready + view.booting
      return backInto(spec, view) ?? { kind: 'hold', reason: { code: 'within-bounds', have, min, max } }
    },
  }
}
