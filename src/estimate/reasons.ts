/** The basis of an estimate in words. Those of the systems' own estimators are in systems/. */

import type { Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'

export const estimateWords: Words = {
  memo: ({ repeats }) =>
    repeats === 1
      ? 'measured cost of the same request'
      : `mean of ${repeats} measurements of the same request`,
  'geometric-mean': ({ rows }) =>
    `geometric mean of ${requests(rows)} of this workload, whatever their parameters`,
  'never-seen': ({ cpuMs }) =>
    cpuMs === undefined
      ? 'no request of this workload has been measured yet'
      : `no request of this workload has been measured yet; the default is ${cpuMs} ms on a nominal core`,
  learned: ({ family, rows, likeness }) =>
    `model (${family}) fitted to ${requests(rows)}; the nearest is ${Math.round(Number(likeness) * 100)} % similar`,
  fixed: () => 'set in advance',
}

function requests(count: Reason[string] | undefined): string {
  return count === 1 ? '1 request' : `${count} requests`
}
