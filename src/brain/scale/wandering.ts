import { ConfigError } from '../../lib/errors.ts'
import type { ScaleOptions, Scaler } from './scaler.ts'

export interface WanderingOptions extends ScaleOptions {
  wander?: Wander
}

/** A new size every `everyMs`, until `untilMs`. */
export interface Wander {
  everyMs: number
  untilMs: number
}

/** For tests with faults: the size depends on the time alone. */
export function wandering({ min, max, wander }: WanderingOptions): Scaler {
  if (!wander) throw new ConfigError('scale.wander: must have everyMs and untilMs')
  const { everyMs, untilMs } = wander
  return {
    name: 'wandering',
    everyMs,
    decide({ ready, booting }, now) {
      // Steps of the golden ratio reach all sizes, in an order without pattern.
      const part = (Math.floor(Math.min(now, untilMs) / everyMs) * 0.6180339887) % 1
      const to = min + Math.floor(part * (max - min + 1))
      const reason = { code: 'wanders', to }
      return to === ready + booting ? { kind: 'hold', reason } : { kind: 'scale', to, reason }
    },
  }
}
