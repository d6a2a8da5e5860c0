/** Two tiers with queues between them, from a course project on scaling a shop. The rules: docs/systems/tiered.md. */

import type { PresetMaker } from '../preset.ts'

const hourMs = 3_600_000

export const tiered: PresetMaker = ({ ms }) => ({
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
    tiers: {
      // The best number of servers in a single tier, by hour: quiet nights, busy days, the most after work.
      hours: [3, 3, 3, 3, 3, 3, 3, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 6, 6],
      hourMs: ms(hourMs),
      minFront: 1,
      minMiddle: 1,
      everyMs: ms(1500),
      perServer: 1.5,
      middlesPerFront: 4,
      dropAfterMs: { browse: ms(800), purchase: ms(1800) },
      endEveryMs: ms(1000),
      ending: {
        front: { idleMs: ms(1000), gapMs: ms(500), gaps: 2 },
        middle: { idleMs: ms(2000), gapMs: ms(700), gaps: 2 },
      },
    },
  },
  // The coordinator serves a read cache.
  repeats: { cacheBytes: 16 * 1024 * 1024 },
  workloads: ['shop'],
  machine: { workPerSecond: 1_000_000, cores: 1, bootMs: 5000 },
})
