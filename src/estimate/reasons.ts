/** Why an estimate is what it is, in words. */

import { inWords, type Words } from '../model/explain.ts'
import type { Reason } from '../model/reason.ts'

const words: Words = {
  memo: ({ repeats }) =>
    repeats === 1 ? 'what the same request took' : `what the same request took, the mean of ${repeats} times`,
  'geometric-mean': ({ rows }) => `the middle of ${requests(rows)} of this workload, whatever they asked for`,
  'never-seen': ({ cpuMs }) =>
    cpuMs === undefined
      ? 'nothing like it was ever seen'
      : `nothing like it was ever seen, so it is taken for what a usual core does in ${cpuMs} ms`,
  'the-number-itself': ({ number }) => `the number asked for, ${number}, taken for the work`,
  'rank-known': () => 'what the same request took, by the store of metrics',
  'still-running': () => 'the same request is still being measured, so it is taken for a long one',
  'similar-requests': ({ rows, group, strategy, side, averageSide }) =>
    `${requests(rows)} most alike (${groups[group!] ?? group}, ${strategy === 'same' ? 'the same' : 'any'} strategy), ` +
    `taken from a side of ${short(averageSide)} to ${short(side)}`,
  slope: ({ key, slope, x }) => `${short(slope)} a unit of size for ${key}, times a size of ${short(x)}`,
  'mean-slope': ({ keys, slope, x }) =>
    `${short(slope)} a unit of size, the mean of ${keys} kinds, times a size of ${short(x)}`,
  'log-polynomial': ({ degree, rows }) =>
    `a surface of degree ${degree} through the logs of ${requests(rows)}`,
  learned: ({ family, rows, likeness }) =>
    `a model (${family}) of ${requests(rows)}, of which the nearest is ${Math.round(Number(likeness) * 100)} % alike`,
  fixed: () => 'it was told so beforehand',
}

const groups: Readonly<Record<string, string>> = {
  'same-map': 'near on the same map',
  'similar-size': 'of similar size',
  'same-strategy': 'of another size',
  all: 'of another size',
}

/** A sentence part that tells where an estimate comes from. */
export function explainEstimate(reason: Reason): string {
  return inWords(words, reason)
}

type Fact = Reason[string] | undefined

function requests(count: Fact): string {
  return count === 1 ? '1 request' : `${count} requests`
}

/** Three digits will do for people. */
function short(value: Fact): string {
  return typeof value === 'number' ? Number(value.toPrecision(3)).toLocaleString('en-US') : `${value}`
}
