/** The two tiers: their roles, their sizes at the start, and the options of `queue-length`. */

import { ConfigError } from '../../lib/errors.ts'

/** A front accepts requests and puts them into the queues; a middle pulls from the queues and does the work. */
export type Role = 'front' | 'middle'

/** The settings of a role: when a node asks to leave. */
export interface EndingRule {
  /** After this long without work, */
  idleMs: number
  /** or after this many requests in a row, each this long after the previous one. */
  gapMs: number
  gaps: number
}

export interface TierSpec {
  /** For each hour of the day, the best number of servers in a single tier. */
  hours: readonly number[]
  /** The length of an hour in that table. The day begins at midnight, UTC. */
  hourMs: number
  minFront: number
  minMiddle: number
  /** The interval between checks of the queues. */
  everyMs: number
  /** Queued requests per server that need no more servers. */
  perServer: number
  /** One front is added for this many middles. */
  middlesPerFront: number
  /** Queue timeouts by lane. */
  dropAfterMs: Readonly<Record<string, number>>
  /** The least time between two nodes that leave. */
  endEveryMs: number
  /** When nodes ask to leave. */
  ending: Readonly<Record<Role, EndingRule>>
}

/** Nodes by role. The coordinator is one of the fronts. */
export type TierSizes = Record<Role, number>

export const tierDefaults: Readonly<TierSpec> = {
  // A shop's day: quiet nights, busy days, the most after work.
  hours: [3, 3, 3, 3, 3, 3, 3, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 6, 6],
  hourMs: 3_600_000,
  minFront: 1,
  minMiddle: 1,
  everyMs: 1500,
  perServer: 1.5,
  middlesPerFront: 4,
  dropAfterMs: { browse: 800, purchase: 1800 },
  endEveryMs: 1000,
  ending: {
    front: { idleMs: 1000, gapMs: 500, gaps: 2 },
    middle: { idleMs: 2000, gapMs: 700, gaps: 2 },
  },
}

/** The defaults with their times divided, so that the day is shorter too. */
export function scaledTiers(ms: (ms: number) => number): TierSpec {
  const { hourMs, everyMs, endEveryMs, dropAfterMs, ending } = tierDefaults
  const drops = Object.entries(dropAfterMs).map(([lane, afterMs]) => [lane, ms(afterMs)])
  const scaled = ({ idleMs, gapMs, gaps }: EndingRule) => ({ idleMs: ms(idleMs), gapMs: ms(gapMs), gaps })
  return {
    ...tierDefaults,
    ...{ hourMs: ms(hourMs), everyMs: ms(everyMs), endEveryMs: ms(endEveryMs) },
    dropAfterMs: Object.fromEntries(drops),
    ending: { front: scaled(ending.front), middle: scaled(ending.middle) },
  }
}

export function startSizes(servers: number, { minFront, minMiddle }: TierSpec): TierSizes {
  const third = Math.floor(servers / 3)
  return { front: Math.max(third, minFront), middle: 2 * Math.max(third, minMiddle) }
}

/** The hour of the day, from 0 to 23. */
export function hourOf(now: number, hourMs: number): number {
  return Math.floor(now / hourMs) % 24
}

export function tierSpecOf(given: Partial<TierSpec> = {}): TierSpec {
  const spec = { ...tierDefaults, ...given }
  const wrong = (name: string, value: unknown, must: string) =>
    new ConfigError(`scale.tiers.${name} = ${value}: must be ${must}`)
  if (spec.hours.length !== 24 || !spec.hours.every((servers) => Number.isInteger(servers) && servers >= 0))
    throw wrong('hours', spec.hours, '24 whole numbers, 0 or more')
  // Without a middle no request is processed; the coordinator is a front that never leaves.
  for (const name of ['minFront', 'minMiddle'] as const)
    if (!(Number.isInteger(spec[name]) && spec[name] >= 1))
      throw wrong(name, spec[name], 'a whole number, 1 or more')
  for (const name of ['hourMs', 'everyMs', 'perServer', 'middlesPerFront', 'endEveryMs'] as const)
    if (!(spec[name] > 0 && spec[name] < Infinity)) throw wrong(name, spec[name], 'above 0')
  for (const [lane, ms] of Object.entries(spec.dropAfterMs))
    if (!(ms >= 0)) throw wrong(`dropAfterMs.${lane}`, ms, '0 or more')
  for (const role of ['front', 'middle'] as const)
    for (const [name, value] of Object.entries(spec.ending[role]))
      if (!(value > 0)) throw wrong(`ending.${role}.${name}`, value, 'above 0')
  return spec
}
