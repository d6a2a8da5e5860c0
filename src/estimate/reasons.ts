/** Where estimates come from, in words. Those of the systems' own estimators are in systems/. */

import type { Words } from '../model/explain.ts'

export const estimateWords: Words = {
  memo: ({ repeats }) =>
    repeats === 1 ? 'the cost of the same request' : `the mean cost of the same request, ${repeats} times`,
  'geometric-mean': ({ rows }) =>
    `the geometric mean of ${rows} ${rows === 1 ? 'request' : 'requests'} of this workload`,
  'never-seen': ({ cpuMs }) =>
    cpuMs === undefined
      ? 'no similar request was ever measured'
      : `no similar request was ever measured, so the work of a usual core in ${cpuMs} ms is assumed`,
  learned: ({ family, rows, likeness }) =>
    `a model (${family}) of ${rows} ${rows === 1 ? 'request' : 'requests'}, the nearest ${Math.round(Number(likeness) * 100)} % alike`,
  fixed: () => 'it was given in advance',
}
