/** When jobs arrive: processes that give the next arrival's time in milliseconds, or Infinity for none. */

import type { Random } from '../lib/random.ts'
import { numbersFromFile } from './sizes.ts'

export interface Arrivals {
  readonly name: string
  next(afterMs: number, random: Random): number
}

/** Independent arrivals at a constant rate. */
export function poisson(perSecond: number): Arrivals {
  return { name: 'poisson', next: (after, random) => after + (random.exponential() / perSecond) * 1000 }
}

/**
 * Calm and busy phases in turn, of the given mean lengths: nine tenths of the time calm. The mean rate over
 * both is `perSecond`; a busy phase is `factor` times as fast as a calm one.
 */
export function bursty(perSecond: number, factor = 10, calmMs = 90_000, busyMs = 10_000): Arrivals {
  const calmRate = (perSecond * (calmMs + busyMs)) / (calmMs + factor * busyMs)
  let busy = false
  let until = 0
  return {
    name: 'bursty',
    next(after, random) {
      let at = after
      for (;;) {
        if (at >= until) {
          busy = until !== 0 && !busy
          until = at + random.exponential() * (busy ? busyMs : calmMs)
        }
        const arrival = at + (random.exponential() / (calmRate * (busy ? factor : 1))) * 1000
        if (arrival <= until) return arrival
        // The phase ends first; exponential gaps have no memory, so the draw may begin anew.
        at = until
      }
    },
  }
}

/** A daily rhythm: the rate swings between `1 - depth` and `1 + depth` times its mean. */
export function diurnal(perSecond: number, depth = 0.8, dayMs = 86_400_000): Arrivals {
  return {
    name: 'diurnal',
    next(after, random) {
      const peak = perSecond * (1 + depth)
      let at = after
      for (;;) {
        at += (random.exponential() / peak) * 1000
        const rate = perSecond * (1 - depth * Math.cos((2 * Math.PI * at) / dayMs))
        if (random.next() * peak < rate) return at
      }
    },
  }
}

/** At the times in a file, one in seconds a line, ascending. */
export function arrivalsFromFile(path: string): Arrivals {
  const times = numbersFromFile(path, 'arrivals').sort((a, b) => a - b)
  let index = 0
  return { name: path, next: () => (index < times.length ? times[index++]! * 1000 : Infinity) }
}
