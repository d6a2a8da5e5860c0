/**
 * When an open job will probably have ended, as of now. The interval that it was given when it was accepted says how uncertain
 * its whole is; what it has done, or how long it has waited, excludes a part of that.
 */

import { below, zAbove } from '../lib/normal.ts'
import type { Place } from './cluster-view.ts'
import type { QuotedTimes, WithEnds } from './eta.ts'

/** In milliseconds since 1970. */
export interface EndTimes {
  earliest: number
  expected: number
  latest: number
}

interface Asked {
  acceptedAt: number
  quote: unknown
}

/** The end as told when the job was accepted. Undefined: nothing was known, for example because no worker was ready. */
export function acceptedEnds({ acceptedAt, quote }: Asked): EndTimes | undefined {
  const { ends } = (quote ?? {}) as Partial<WithEnds>
  if (!ends) return undefined
  const at = (s: number) => acceptedAt + s * 1000
  return { earliest: at(ends.earliest), expected: at(ends.expected), latest: at(ends.latest) }
}

/**
 * A job with progress is judged by that, whatever it has waited for before. Any other job keeps the interval that it was given
 * until its expected end has passed.
 */
export function presentEnds(job: Asked, place: Place | undefined, now: number): EndTimes | undefined {
  const accepted = acceptedEnds(job)
  const byProgress = place && endsByProgress(job, place, now)
  if (byProgress) return byProgress
  if (!accepted || now < accepted.expected) return accepted
  const ends = given(spreadOf(job), accepted.expected - job.acceptedAt, now - job.acceptedAt)
  const at = (ms: number) => Math.max(now, job.acceptedAt + ms)
  return { earliest: at(ends.earliest), expected: at(ends.expected), latest: at(ends.latest) }
}

/** The pace of a job counts half as much as its quote after this time on a core. */
const trustedMs = 1_000
/** The pace may change by this factor, and an answer takes this long besides. */
const [paceFactor, besidesMs] = [1.1, 100]

function endsByProgress(job: Asked, place: Place, now: number): EndTimes | undefined {
  const { done, predicted, ranMs } = place
  const { seconds } = (job.quote ?? {}) as Partial<QuotedTimes>
  if (done === undefined || ranMs === undefined || !seconds || !predicted) return undefined
  const quoted = (seconds.expected * 1000) / predicted
  const weight = done > 0 ? ranMs / (ranMs + trustedMs) : 0
  const msPerWork = done > 0 ? quoted + weight * (ranMs / done - quoted) : quoted
  const whole = given(spreadOf(job), predicted, done)
  const after = (work: number) => Math.max(0, work - done) * msPerWork
  return {
    earliest: now + after(whole.earliest) / paceFactor,
    expected: now + after(whole.expected) + besidesMs / 2,
    latest: now + after(whole.latest) * paceFactor + besidesMs,
  }
}

/** Standard deviations of logarithms, below and above the expected value. */
interface Spread {
  early: number
  late: number
}

/** 90 % lie within this many standard deviations. */
const within = 1.645
const leastSpread = 0.03

/** As calibrated by the jobs before it, else as of the quote. */
function spreadOf({ quote }: Asked): Spread {
  const { ends, seconds } = (quote ?? {}) as Partial<WithEnds & QuotedTimes>
  const [low, middle, high] = ends
    ? [ends.earliest, ends.expected, ends.latest]
    : [seconds!.low, seconds!.expected, seconds!.high]
  const sigma = (factor: number) =>
    factor > 1 ? Math.max(leastSpread, Math.log(factor) / within) : leastSpread
  return { early: sigma(middle / low), late: sigma(high / middle) }
}

/** In standard deviations: from here on a distribution is doubted, and one later no longer believed. */
const doubted = 2

/**
 * The fifth, the half and the nineteenth twentieth of what is left of a distribution with this median once `so far` is excluded. A value far
 * beyond it says that the distribution was wrong: then the whole is as likely to exceed twice of it as not.
 */
function given({ early, late }: Spread, median: number, soFar: number): EndTimes {
  const z = soFar > 0 ? Math.log(soFar / median) / (soFar < median ? early : late) : -Infinity
  const left = 1 - below(z)
  const doubt = Math.min(1, Math.max(0, z - doubted))
  const at = (above: number) => {
    const free = soFar / above
    if (doubt === 1) return free
    const quantile = zAbove(left * above)
    const believed = Math.max(soFar, median * Math.exp(quantile * (quantile < 0 ? early : late)))
    return doubt === 0 ? believed : believed ** (1 - doubt) * free ** doubt
  }
  return { earliest: at(0.95), expected: at(0.5), latest: at(0.05) }
}
