/** nginx: weighted round robin, and servers that fail are passed over for a while. */

import type { PresetMaker } from '../preset.ts'
import { autoscalerWords, besideBalancer, unlimitedSlots } from './autoscaler.ts'

export const nginx: PresetMaker = (scales) => ({
  description: 'Imitates nginx: weighted round robin with passive health checks (max_fails, fail_timeout).',
  about: [
    'Each worker in turn, weighted by its cores, as an upstream block without a method. After one failed attempt',
    '(max_fails=1) a worker gets no requests for 10 s (fail_timeout=10s); the failed request goes to the next worker.',
    'All requests run at once (max_conns=0), up to 64 on a worker.',
    'Left out: 502 while all servers rest (they are used instead), backup servers, keep-alive pools, slow start.',
    autoscalerWords,
  ],
  scheduler: 'weighted-round-robin',
  placing: { maxFails: 1, failMs: scales.ms(10_000) },
  discipline: 'sharing',
  slots: unlimitedSlots,
  ...besideBalancer(scales),
  limits: { mostSlowdown: 0 },
})
