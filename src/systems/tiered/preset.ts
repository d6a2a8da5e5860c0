/** Two tiers with a queue between them, from a course project on scaling a shop. docs/systems/tiered.md tells the rules. */

import type { PresetMaker } from '../preset.ts'

const hourMs = 3_600_000

export const tiered: PresetMaker = ({ ms }) => ({
  description: 'Two tiers: fronts fill two queues, middles pull from them; nodes ask to end themselves.',
  about: [
    'After "Design & Implementation", project 3 of a course on distributed systems (15-440, spring 2018): a web shop',
    'whose servers come and go with the hour of the day. A coordinator gives nodes their roles, holds a queue for browse',
    'and one for purchase requests, adds servers when the queues are long, and drops what has waited too long.',
    'Its author found the numbers by trying: 1.5 queued requests a server are no reason to grow, a third of the servers',
    'are best as fronts, and servers know best themselves when they are not needed any more.',
  ],
  scheduler: 'central-queue',
  discipline: 'sharing',
  scale: {
    policy: 'queue-length',
    min: 1,
    max: 12,
    tiers: {
      // For each hour, the best number of servers without tiers: quiet nights, busy days, the most after work.
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
  // Its coordinator serves a cache of what was read.
  repeats: { cacheBytes: 16 * 1024 * 1024 },
  workloads: ['shop'],
  machine: { workPerSecond: 1_000_000, cores: 1, bootMs: 5000 },
})
