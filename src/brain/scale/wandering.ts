import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import type { Scaler } from './scaler.ts'

/** For trials of faults: another size every `everyMs` until `untilMs`. */
export interface Wander {
  everyMs: number
  untilMs: number
}

/** Sizes between the bounds by the time alone, so that there is nothing to save. */
export function wandering({ min, max, wander }: ScaleSpec): Scaler {
  if (!wander) throw new ConfigError('scale.wander: must say how often, and until when')
  const { everyMs, untilMs } = wander
  return {
    name: 'wandering',
    everyMs,
    decide({ ready, booting }, now) {
      // Steps of the golden ratio come to all sizes, in no order that anyone would expect.
      const part = (Math.floor(Math.min(now, untilMs) / everyMs) * 0.6180339887) % 1
      const to = min + Math.floor(part * (max - min + 1))
      const reason = { code: 'wanders', to }
      return to === ready + booting ? { kind: 'hold', reason } : { kind: 'scale', to, reason }
    },
    save: () => null,
    load: () => {},
  }
}
