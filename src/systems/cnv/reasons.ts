/** The reasons of CNV in words. */

import { count } from '../../lib/quantities.ts'
import type { Words } from '../../model/explain.ts'
import { changing, grouped, requests } from '../wording.ts'

export const cnvWords: Words = {
  pack: (r) =>
    `workers carry ${r.averagePercent} % of their capacity on average, so jobs are packed: of those with room that worker carries most (${r.percent} %)`,
  spread: (r) =>
    `workers carry ${r.averagePercent} % of their capacity on average, so jobs are spread: that worker carries least (${r.percent} %)`,
  'no-capacity': (r) => `it is ${r.class} (${grouped(r.work)} units), and no worker has the capacity left`,
  capacity: (r) => `that worker has capacity again (it carries ${r.percent} %)`,
  'cpu-above': (r) =>
    `smoothed CPU is ${r.percent} %, above ${r.above} % for ${count(r.ticks, 'look')} in a row, ` +
    `and ${count(r.waiting, 'job')} wait${Number(r.launched) > 1 ? ' with more work than one worker may carry' : ''}${changing(r)}`,
  'cpu-below': (r) =>
    `smoothed CPU is ${r.percent} %, below ${r.below} % for ${count(r.ticks, 'look')} in a row${changing(r)}`,
  'cpu-within': (r) => `smoothed CPU is ${r.percent} %`,
}

export const cnvEstimates: Words = {
  rough: () => 'a formula of its parameters, since nothing like it is stored',
  'log-polynomial': ({ degree, rows }) =>
    `a polynomial of degree ${degree} fitted to the logarithms of ${requests(rows)}`,
}
