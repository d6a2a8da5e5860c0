/** Arrival processes: each returns the time of the next arrival in milliseconds, or Infinity for none. */

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
 * Alternating calm and busy phases of the given mean lengths; by default 90 % of the time is calm. The mean rate over
 * both is `perSecond`; a busy phase has `factor` times the rate of a calm one.
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
        // The phase ends first. Exponential gaps are memoryless, so drawing again is correct.
        at = until
      }
    },
  }
}

/** A daily cycle: the rate swings between `1 - depth` and `1 + depth` times its mean. */
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

/** At the times listed in a file: one per line, in seconds, ascending. */
export function arrivalsFromFile(path: string): Arrivals {
  const times = numbersFromFile(path, 'arrivals').sort((a, b) => a - b)
  let index = 0
  return { name: path, next: () => (index < times.length ? times[index++]! * 1000 : Infinity) }
}
