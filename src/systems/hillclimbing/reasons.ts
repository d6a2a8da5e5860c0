/** HillClimbing's reasons in words. */

import { count } from '../../lib/quantities.ts'
import type { Words } from '../../model/explain.ts'
import { are, changing, grouped, openWorkers, requests, short } from '../wording.ts'

export const hillclimbingWords: Words = {
  'own-launch': () => 'no worker can take it, so one is launched for it',
  'over-cap': (r) =>
    (r.openWorkers === 0
      ? 'no worker has a free slot'
      : `${openWorkers(r)} would have more than ${grouped(r.mostWork)} units of work with its ${grouped(r.work)}`) +
    (r.kept === undefined ? '' : `; ${r.kept} takes no other jobs until it is empty`),
  'average-work': (r) =>
    `workers have ${grouped(r.work)} units of work on average, ${r.percent} % of the limit; the bound is ${r.bound} %${changing(r)}`,
  'nobody-there': (r) =>
    `${count(r.waiting, 'job')} ${r.waiting === 1 ? 'waits' : 'wait'}, and no worker exists`,
  'first-worker': () => 'the cluster starts with one worker',
  'fresh-workers': (r) => `${count(r.fresh, 'worker')} ${are(r.fresh)} without a CPU reading yet`,
}

const groups: Readonly<Record<string, string>> = {
  'same-map': 'near on the same map',
  'similar-size': 'of similar size',
  'same-strategy': 'of another size',
  all: 'of another size',
}

export const hillclimbingEstimates: Words = {
  'similar-requests': ({ rows, group, strategy, side, averageSide }) =>
    `the ${requests(rows)} most alike (${groups[group!] ?? group}, ${strategy === 'same' ? 'same' : 'any'} strategy), ` +
    `scaled from a side of ${short(averageSide)} to ${short(side)}`,
}
