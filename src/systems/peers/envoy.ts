/** Envoy with `lb_policy: LEAST_REQUEST`: of two random hosts, the one with fewer active requests. */

import type { PresetMaker } from '../preset.ts'
import { autoscalerWords, besideBalancer, unlimitedSlots } from './autoscaler.ts'

export const envoyP2c: PresetMaker = (scales) => ({
  description: 'Imitates Envoy: LEAST_REQUEST, which takes the less busy of two random hosts.',
  about: [
    'Two workers are drawn at random (choice_count 2), and the one with fewer active requests gets the request: the power',
    'of two choices. All requests run at once, up to 64 on a worker.',
    'Left out: weights (with which Envoy changes to weighted round robin), circuit breakers (1,024 requests per cluster),',
    'outlier detection, panic routing, zones. Envoy retries only if told to; here failed attempts are retried.',
    autoscalerWords,
  ],
  scheduler: 'two-choices',
  discipline: 'sharing',
  slots: unlimitedSlots,
  ...besideBalancer(scales),
  limits: { mostSlowdown: 0 },
})
