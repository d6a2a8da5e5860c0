/** Reasons of estimates in words. */

import { inWords, type Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'

const words: Words = {
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
  'the-number-itself': ({ number }) => `the number in the request, ${number}, is used as its work`,
  'rank-known': () => 'measured cost of the same request, from the metrics store',
  'still-running': () => 'the same request is still being measured, so a high cost is assumed',
  'similar-requests': ({ rows, group, strategy, side, averageSide }) =>
    `mean of the ${requests(rows)} most similar (${groups[group!] ?? group}, ${strategy === 'same' ? 'same' : 'any'} strategy), ` +
    `scaled from a side of ${short(averageSide)} to ${short(side)}`,
  slope: ({ key, slope, x }) =>
    `${short(slope)} units of work per unit of size for ${key}, times size ${short(x)}`,
  'mean-slope': ({ keys, slope, x }) =>
    `${short(slope)} units of work per unit of size (mean of ${keys} kinds), times size ${short(x)}`,
  'log-polynomial': ({ degree, rows }) =>
    `polynomial of degree ${degree} fitted to the logs of ${requests(rows)}`,
  learned: ({ family, rows, likeness }) =>
    `model (${family}) fitted to ${requests(rows)}; the nearest is ${Math.round(Number(likeness) * 100)} % similar`,
  fixed: () => 'set in advance',
}

const groups: Readonly<Record<string, string>> = {
  'same-map': 'near on the same map',
  'similar-size': 'of similar size',
  'same-strategy': 'of a different size',
  all: 'of a different size',
}

/** A phrase that states the basis of an estimate. */
export function explainEstimate(reason: Reason): string {
  return inWords(words, reason)
}

type Fact = Reason[string] | undefined

function requests(count: Fact): string {
  return count === 1 ? '1 request' : `${count} requests`
}

/** Three significant digits. */
function short(value: Fact): string {
  return typeof value === 'number' ? Number(value.toPrecision(3)).toLocaleString('en-US') : `${value}`
}
