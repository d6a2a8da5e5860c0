/** HAProxy with `balance leastconn`, a limit of connections per server, and a queue. */

import type { PresetMaker } from '../preset.ts'
import { autoscalerWords, besideBalancer } from './autoscaler.ts'

const maxconn = 20

export const haproxyLeastconn: PresetMaker = (scales) => ({
  description: 'Imitates HAProxy: balance leastconn, maxconn 20 per server, and a queue with a timeout.',
  about: [
    'A request goes to the worker with the fewest; among equals, in turn. A worker has at most 20 (maxconn 20); further',
    'requests are queued in order of arrival, and rejected with 503 after a minute (timeout queue 1m). A request whose',
    'worker failed is tried three more times (retries 3), on another worker (option redispatch).',
    'HAProxy sets no maxconn by default: 20 is what a small application server bears. `--slots N` raises it.',
    'Left out: weights, slow start, stickiness, timeout server, the separate queue of each server.',
    autoscalerWords,
  ],
  scheduler: 'least-connections',
  discipline: 'sharing',
  slots: maxconn,
  ...besideBalancer(scales),
  limits: { mostSlowdown: 0, retries: 3, waitMs: scales.ms(60_000) },
})
