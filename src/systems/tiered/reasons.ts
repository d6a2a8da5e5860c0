/** The reasons of the tiered system in words. */

import { count, span } from '../../lib/quantities.ts'
import type { Words } from '../../model/explain.ts'
import type { Reason } from '../../model/reason.ts'
import { are } from '../wording.ts'

export const tieredWords: Words = {
  pulls: (r) => `that worker pulls it (${r.jobs} of ${count(r.cores, 'core')} busy)`,
  'none-free': (r) =>
    r.free === 0
      ? 'no worker has a free core'
      : `${count(r.free, 'worker')} with a free core cannot take it: too little memory, or it failed there before`,
  'tier-missing': (r) => `${nodes(r)} are missing`,
  'tier-first': () => 'no middle exists, and without one no request is processed',
  'tier-usual': () => 'no node is missing, and further nodes become middles',
  'asked-idle': (r) => `it asked to leave: it was idle for ${span(r.ms)}`,
  'asked-slow': (r) => `it asked to leave: requests arrive ${span(r.ms)} apart`,
  'too-few': (r) => `${count(r.left, String(r.role))} would remain, and the minimum is ${r.least}`,
  'too-often': (r) => `another node left ${span(r.sinceMs)} ago, and only one per ${span(r.everyMs)} may`,
  coordinator: () => 'the coordinator never leaves',
  'tiers-start': (r) =>
    `${count(r.servers, 'server')} ${are(r.servers)} best at hour ${r.hour}: ${count(r.front, 'front')}, the coordinator among them, and ${count(r.middle, 'middle')}`,
  'queue-long': (r) =>
    `${count(r.queued, 'request')} ${are(r.queued)} queued for ${count(r.servers, 'server')}: ${count(r.middle, 'middle')} and ${count(r.front, 'front')} more`,
  'tiers-replace': (r) => `${nodes(r)} are missing`,
}

function nodes({ front, middle }: Reason): string {
  return `${count(front, 'front')} and ${count(middle, 'middle')}`
}
