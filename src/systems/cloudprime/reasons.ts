/** CloudPrime's reasons in words. */

import { count, span } from '../../lib/quantities.ts'
import type { Words } from '../../model/explain.ts'
import type { Reason } from '../../model/reason.ts'

export const cloudprimeWords: Words = {
  'class-fits': (r) =>
    r.class === 'short'
      ? `it is short, and that worker has the fewest requests (${r.jobs})`
      : `it is ${classOf(r)}; of the workers that may take one more, that one has the fewest requests (${r.jobs})`,
  'fits-nowhere': (r) =>
    `it is ${classOf(r)} and fits on none of ${count(r.workers, 'worker')}: too busy, or at the limit of its class` +
    (r.graceMs === undefined ? '' : `; it is placed again in ${span(r.graceMs)}`),
  'starts-worker': (r) =>
    `it is ${classOf(r)} and fits on none of ${count(r.workers, 'worker')}, so it starts one and goes there in ${span(r.graceMs)}`,
  'own-worker': (r) => `it started that worker (launch ${r.launch})`,
  'own-worker-soon': (r) => `it waits for the worker that it started (launch ${r.launch})`,
  'own-worker-late': (r) => `the worker that it started (launch ${r.launch}) has not joined yet`,
  misfit: (r) =>
    `a request ${classOf(r)} fits on none of ${count(r.workers, 'worker')}` +
    (Number(r.queued) >= Number(r.most) ? `, and ${r.queued} more are queued` : ''),
  'dead-replaced': (r) =>
    `${count(r.dead, 'worker')} died, and only ${r.idle} of the others ${r.idle === 1 ? 'has' : 'have'} at most ${r.percent} % CPU (${r.spare} are wanted)`,
  'low-cpu': (r) =>
    `its CPU was at most ${r.percent} % for ${r.times} counts in a row; ${r.busy} of ${count(r.workers, 'worker')} ${r.busy === 1 ? 'is' : 'are'} above ${r.high} %`,
}

export const cloudprimeEstimates: Words = {
  'the-number-itself': ({ number }) => `the requested number, ${number}, taken as its work`,
  'rank-known': () => 'the stored cost of the same request',
  'still-running': () => 'the same request is still being measured, so it counts as one of the longest',
}

function classOf(r: Reason): string {
  return r.class === 'max' ? 'of the largest class' : `of class ${r.class}`
}
