/**
 * What a job is to be taken to need in all, from what was said of it and how far it has got. Worker, brain and
 * simulator all apply this at the same points of a job's work, so they agree on who goes first.
 */

/** What was said of a job; `high` is above 95 % of such jobs. */
export interface Said {
  work: number
  high?: number
}

export interface Standing {
  /** What the job is taken to need in all. */
  expected: number
  /** When it has done this much, that must be thought over. */
  reviseAt: number
}

/** How far the 95th percentile of a normal distribution is from its middle. */
const toHigh = 1.645
/** Nobody is as sure as some intervals say. */
const leastSigma = 0.1
/** Without an interval an estimate stands until it is passed by half. */
const overrun = 1.5
/** From here on the interval is not believed any more: what has lasted long lasts longer. One in 40, and one in 700. */
const [doubted, disbelieved] = [2, 3]

/** Before the job has begun. */
export function firstStanding(said: Said): Standing {
  const { work } = said
  const sigma = sigmaOf(said)
  // Less than this tells nothing that was not known before.
  const reviseAt = work * (sigma === undefined ? overrun : Math.exp(-sigma))
  const expected = sigma === undefined ? work : work * attemptingFirst(sigma)
  return { expected, reviseAt: Math.max(1, reviseAt) }
}

/** After so much work. */
export function standingAt(said: Said, done: number): Standing {
  const sigma = sigmaOf(said)
  if (sigma === undefined) {
    const expected = done < said.work * overrun ? said.work : done * 2
    return { expected, reviseAt: Math.max(expected, said.work * overrun) }
  }
  const expected = done + attempting(said.work, sigma, done)
  return { expected, reviseAt: Math.max(done, said.work * 0.1, 1) * Math.max(1.2, Math.exp(sigma / 3)) }
}

/** The spread of the logarithm of such costs around what was said; undefined: it is known to be right, or nobody knows. */
export function sigmaOf({ work, high }: Said): number | undefined {
  if (high === undefined || !(high > work && work > 0)) return undefined
  return Math.max(leastSigma, Math.log(high / work) / toHigh)
}

/**
 * The least work for which an end can be had, on average: over all amounts of work that might be spent on the job
 * from here, what is spent, divided by the chance that it ends within them (Gittins' index). For sure estimates that
 * is what remains; where costs are spread widely it is small at first, for the job may be short, and grows with age.
 */
function attempting(middle: number, sigma: number, done: number): number {
  const z = done > 0 ? Math.log(done / middle) / sigma : -Infinity
  if (z > disbelieved) return done
  const mean = middle * Math.exp((sigma * sigma) / 2)
  const ended = below(z)
  const spentBefore = mean * below(z - sigma) + done * (1 - ended)
  let least = Infinity
  for (let upTo = Math.max(z, -3) + step, i = 0; i < steps; i++, upTo += step) {
    const within = z <= -3 ? usualShares[i]! : below(upTo)
    const ends = within - ended
    if (ends < 1e-9) continue
    const until = middle * Math.exp(upTo * sigma)
    const spent = mean * below(upTo - sigma) + until * (1 - within) - spentBefore
    least = Math.min(least, spent / ends)
  }
  return Math.max(least, done * Math.max(0, z - doubted))
}

/** How finely, and how far, amounts of work are tried, in standard deviations. */
const [step, steps] = [0.35, 16]

/** Of most jobs nothing is done yet when they are thought about, and what is tried is the same for all of them. */
const usualShares = (() => {
  const shares: number[] = []
  for (let upTo = -3 + step, i = 0; i < steps; i++, upTo += step) shares.push(below(upTo))
  return shares
})()

/** Of jobs of which nothing is done: asked for with every job, and the same for all with the same spread. */
function attemptingFirst(sigma: number): number {
  const at = sigma / tableStep
  const before = Math.floor(at)
  if (!(before + 1 < firstTable.length)) return attempting(1, sigma, 0)
  return firstTable[before]! + (at - before) * (firstTable[before + 1]! - firstTable[before]!)
}

/** The share of a normal distribution below z, to seven digits (Abramowitz and Stegun, 26.2.17). */
function below(z: number): number {
  if (z === -Infinity) return 0
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const above = 0.3989422804 * Math.exp((-z * z) / 2) * series
  return z > 0 ? 1 - above : above
}

const tableStep = 1 / 128
const firstTable = Float64Array.from({ length: 512 }, (_, i) => attempting(1, i * tableStep, 0))
