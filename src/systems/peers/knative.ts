/** Knative Serving: scaled by concurrency, down to no worker; requests wait for the first one. */

import type { PresetMaker } from '../preset.ts'
import { most, unlimitedSlots } from './autoscaler.ts'

export const knative: PresetMaker = ({ ms }) => ({
  description: 'Imitates Knative Serving: scaled by concurrency (KPA) with panic mode, down to zero.',
  about: [
    'Every 2 s the fleet becomes the mean number of requests of the last 60 s, divided by 0.7 per core. If the last 6 s ask',
    'for twice the workers or more, it panics: it follows those 6 s, and does not shrink for 60 s. Idle for the window and',
    '30 s more, the last worker ends; the next request waits for a new one, as in the activator. Placed: less busy of two.',
    'Knative aims at 100 requests per pod (70 %). For requests that compute, one per core is set here (annotation',
    'autoscaling.knative.dev/target); --target 70 is the default. No hard limit (containerConcurrency 0), up to 64.',
    'Left out: target-burst-capacity, the queue-proxy, requests per second as a metric, several revisions.',
  ],
  scheduler: 'two-choices',
  discipline: 'sharing',
  slots: unlimitedSlots,
  scale: {
    ...{ policy: 'kpa', min: 0, max: most, target: 0.7 },
    ...{ tickMs: ms(2000), stableMs: ms(60_000), graceMs: ms(30_000) },
  },
  simulatedMax: true,
  limits: { mostSlowdown: 0 },
})
