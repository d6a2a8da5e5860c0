import type { ScaleSpec } from '../../systems/scalers.ts'
import { backInto } from './bounds.ts'
import type { Scaler } from './scaler.ts'

/** As many workers as there are, but at least `min` and at most `max`. */
export function fixed(spec: ScaleSpec): Scaler {
  const { min, max } = spec
  return {
    name: 'fixed',
    everyMs: 0,
    decide(view) {
      const have = view.ready + view.booting
      return backInto(spec, view) ?? { kind: 'hold', reason: { code: 'within-bounds', have, min, max } }
    },
    save: () => null,
    load: () => {},
  }
}
