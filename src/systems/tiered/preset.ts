/** Two tiers with queues between them, from a course project on scaling a shop. The rules: docs/systems/tiered.md. */

import { chosen } from '../constants.ts'
import type { PresetMaker } from '../preset.ts'
import { scaledTiers, tierDefaults } from './tiers.ts'

/** The document gives the second; the table is made up: quiet nights, busy days, the most after work. */
export const tieredConstants = {
  /** The best number of servers in a single tier, by hour. */
  hours: tierDefaults.hours,
  /** Queued requests per server that need no growth. */
  perServer: tierDefaults.perServer,
}

export const tiered: PresetMaker = ({ ms, constants }) => ({
  description: 'Two tiers: fronts fill two queues, middles pull from them; nodes ask to leave.',
  about: [
    'After "Design & Implementation", project 3 of a course on distributed systems (15-440, spring 2018): a web shop',
    'whose servers follow the hour of the day. A coordinator assigns roles to nodes, holds a queue for browse and one',
    'for purchase requests, adds servers when the queues are long, and drops requests that waited too long.',
    'Its author found the numbers by experiment: 1.5 queued requests per server need no growth, a third of the servers',
    'are best as fronts, and servers themselves know best when they are no longer needed.',
  ],
  scheduler: 'central-queue',
  discipline: 'sharing',
  scale: {
    policy: 'queue-length',
    min: 1,
    max: 12,
    tiers: { ...scaledTiers(ms), ...chosen(tieredConstants, constants) },
  },
  // The coordinator serves a read cache.
  repeats: { cacheBytes: 16 * 1024 * 1024 },
  workloads: ['shop'],
  machine: { workPerSecond: 1_000_000, cores: 1, bootMs: 5000 },
})
