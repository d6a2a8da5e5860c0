/**
 * How the estimate of a running job is revised, from its prediction and the work it has done. Worker, brain and
 * simulator apply this at the same points of a job's work, so they agree on the order of jobs.
 */

import { below, densityAt } from '../lib/normal.ts'

/** `high` is above 95 % of such jobs. */
export interface Prediction {
  work: number
  high?: number
}

export interface Expectation {
  /** The total work that the job is now expected to need. */
  expected: number
  /** The work done at which the expectation is revised next. */
  reviseAt: number
}

/** The 95th percentile of the standard normal distribution. */
const toHigh = 1.645
/** Intervals that claim less spread are not believed. */
const leastSigma = 0.1
/** Without an interval, an estimate is revised when the job exceeds it by half. */
const overrun = 1.5
/** In standard deviations, where the interval is doubted (1 in 40 jobs) and no longer believed (1 in 700). */
const [doubted, disbelieved] = [2, 3]

/** Before the job has begun. */
export function firstExpectation(prediction: Prediction): Expectation {
  const { work } = prediction
  const sigma = sigmaOf(prediction)
  // Work below this carries no information about the job's size.
  const reviseAt = work * (sigma === undefined ? overrun : Math.exp(-sigma))
  const expected = sigma === undefined ? work : work * firstIndex(sigma)
  return { expected, reviseAt: Math.max(1, reviseAt) }
}

/** After the job has done this much work. */
export function expectationAfter(prediction: Prediction, done: number): Readonly<Expectation> {
  const { work, high } = prediction
  if (done !== last.done || work !== last.work || high !== last.high) {
    last.expectation = revise(prediction, done)
    last.work = work
    last.high = high
    last.done = done
  }
  return last.expectation
}

/** In a simulation, the worker and the brain ask the same question one after the other. */
const last = { work: 0, high: 0 as number | undefined, done: 0, expectation: firstExpectation({ work: 0 }) }

function revise(prediction: Prediction, done: number): Expectation {
  const sigma = sigmaOf(prediction)
  if (sigma === undefined) {
    const expected = done < prediction.work * overrun ? prediction.work : done * 2
    return { expected, reviseAt: Math.max(expected, prediction.work * overrun) }
  }
  const expected = done + gittinsIndex(prediction.work, sigma, done)
  const later = Math.max(done, prediction.work * 0.1, 1) * Math.max(1.2, Math.exp(sigma / 3))
  // A job that has outlived what was expected of it must not seem about to end.
  return { expected, reviseAt: Math.min(later, Math.max(expected, done * 1.2)) }
}

/** The standard deviation of the logarithm of such costs; undefined: the prediction is exact, or has no interval. */
export function sigmaOf({ work, high }: Prediction): number | undefined {
  if (high === undefined || !(high > work && work > 0)) return undefined
  return Math.max(leastSigma, Math.log(high / work) / toHigh)
}

/**
 * The Gittins index: the least work spent per job that ends. It is the minimum, over all amounts of work that might be
 * spent on the job from here, of the expected work divided by the probability that the job ends within the amount. For
 * a narrow interval that is the remaining work. For a wide one it is small at first, since the job may be short, and
 * grows with age.
 */
function gittinsIndex(middle: number, sigma: number, done: number): number {
  const z = done > 0 ? Math.log(done / middle) / sigma : -Infinity
  if (z > disbelieved) return done
  const mean = middle * Math.exp((sigma * sigma) / 2)
  const ended = below(z)
  const spentBefore = mean * below(z - sigma) + done * (1 - ended)
  let least = Infinity
  // The price of an end falls and then rises with the amount, as a lognormal hazard rate rises and then falls. So halving
  // finds the least of wide intervals. Of narrow ones the price is almost flat, and rounding would mislead.
  let [low, high] = [0, steps - 1]
  while (low <= high) {
    const i = sigma < narrow ? low : (low + high) >> 1
    const upTo = amountAt(i, Math.max(z, -3))
    const density = densityAt(upTo)
    const within = below(upTo, density)
    const until = middle * Math.exp(upTo * sigma)
    const spent = mean * below(upTo - sigma) + until * (1 - within) - spentBefore
    const price = spent / (within - ended)
    least = Math.min(least, price)
    if (sigma >= narrow && price * density < until * sigma * (1 - within)) high = i - 1
    else low = i + 1
  }
  return Math.max(least, done * Math.max(0, z - doubted))
}

/** The amounts of work that are tried, in standard deviations: the step, and how many steps. */
const [step, steps] = [0.35, 16]
/** Intervals with a smaller sigma are narrow. */
const narrow = 0.35

/** Added step by step: a product would be rounded differently. */
function amountAt(i: number, from: number): number {
  let upTo = from + step
  for (let n = 0; n < i; n++) upTo += step
  return upTo
}

/** For jobs that have done nothing. Every job asks for it, so it is interpolated from a table by sigma. */
function firstIndex(sigma: number): number {
  const at = sigma / tableStep
  const before = Math.floor(at)
  if (!(before + 1 < firstTable.length)) return gittinsIndex(1, sigma, 0)
  return firstTable[before]! + (at - before) * (firstTable[before + 1]! - firstTable[before]!)
}

const tableStep = 1 / 128
const firstTable = Float64Array.from({ length: 512 }, (_, i) => gittinsIndex(1, i * tableStep, 0))
