/** EcoWork's reasons in words. */

import { count } from '../../lib/quantities.ts'
import type { Words } from '../../model/explain.ts'
import { are, changing, openWorkers, short } from '../wording.ts'

export const ecoworkWords: Words = {
  guarded: (r) =>
    r.openWorkers === 0
      ? 'no reachable worker has a free slot'
      : `${count(r.booting, 'worker')} ${are(r.booting)} booting, and until then ${openWorkers(r)} would exceed the limits with it`,
  'cpu-step': (r) => `mean CPU is ${r.percent} %, the bound is ${r.bound} %${changing(r)}`,
  'no-cpu': () => 'no worker has a CPU reading yet',
  'batch-under-way': (r) => `the previous step is not finished: ${count(r.workers, 'worker')} left`,
}

export const ecoworkEstimates: Words = {
  slope: ({ key, slope, x }) => `${short(slope)} per unit of size for ${key}, times a size of ${short(x)}`,
  'mean-slope': ({ keys, slope, x }) =>
    `${short(slope)} per unit of size, the mean of ${keys} kinds, times a size of ${short(x)}`,
}
