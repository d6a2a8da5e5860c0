/** Prequal: probes of a few workers, judged by requests in flight and latency. */

import type { PresetMaker } from '../preset.ts'
import { autoscalerWords, besideBalancer, unlimitedSlots } from './autoscaler.ts'

export const prequal: PresetMaker = (scales) => ({
  description: 'Imitates Prequal (Google, NSDI 2024): probes, then the hot-cold lexicographic rule.',
  about: [
    'Each request probes 3 random workers; 16 results are kept, for at most 1 s. Workers whose requests in flight exceed',
    'the 0.84 quantile of those seen are hot. A request goes to the cold worker with the lowest latency or, if all are',
    'hot, to the one with the fewest in flight. All requests run at once, up to 64 on a worker.',
    'Left out: the delay of probes (the brain knows their answers), many balancers at once, error aversion.',
    autoscalerWords,
  ],
  scheduler: 'prequal',
  discipline: 'sharing',
  slots: unlimitedSlots,
  ...besideBalancer(scales),
  limits: { mostSlowdown: 0 },
})
