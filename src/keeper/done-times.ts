/**
 * When a job will have ended. What was expected when it was accepted leaves out that shorter jobs will overtake it, that the
 * jobs ahead may take longer, and what the store and the connections take. So the times of earlier jobs, as multiples of what was
 * expected of them, tell how far such expectations are off.
 */

/** 90 % lie between `low` and `high`. In seconds. */
export interface Range {
  low: number
  expected: number
  high: number
}

/** What was expected of a job when it was accepted. */
export interface Expected {
  /** With a core to itself. */
  seconds: Range
  /** Until it starts, unless shorter jobs arrive later. */
  waitSeconds: number
}

/** How far a job's time was above its bounds, in logs, and what tells it from others. */
interface Finished extends Range, Traits {}

/** In logs. */
interface Traits {
  size: number
  wait: number
}

/** Jobs that are remembered, jobs that are compared, and jobs without which there is nothing to compare with. */
const [mostKept, mostCompared, fewest] = [600, 90, 20]
/** A job takes at least this long. */
const shortestS = 0.001
/** What was compared is used until that number of further jobs has ended. */
const [freshAtFirst, freshLater] = [16, 64]
/** It is used for jobs that differ by less than such a part of a factor of e. */
const cells = 4
/** A little more than 90 %: jobs that end one after another are off together. */
const outer = 0.04

export class DoneTimes {
  readonly #finished: Finished[] = []
  #next = 0
  /** By size and wait, until more has been learned. */
  readonly #factors = new Map<string, Range>()
  #learned = 0

  /** From the acceptance of the job until its end. */
  of(expected: Expected): Range {
    const base = baseOf(expected)
    if (this.#finished.length < fewest) return base
    const factors = this.#factorsOf(traitsOf(expected))
    const [low, high] = [base.low * factors.low, base.high * factors.high]
    return { low, expected: Math.min(high, Math.max(low, base.expected * factors.expected)), high }
  }

  /** A job has ended this long after it was accepted. */
  learn(expected: Expected, tookSeconds: number): void {
    const took = Math.max(shortestS, tookSeconds)
    const base = baseOf(expected)
    const above = (bound: number) => Math.log(took / bound)
    const { low, expected: middle, high } = base
    this.#finished[this.#next] = {
      ...traitsOf(expected),
      ...{ low: above(low), expected: above(middle), high: above(high) },
    }
    this.#next = (this.#next + 1) % mostKept
    const fresh = this.#finished.length < mostKept ? freshAtFirst : freshLater
    if (++this.#learned % fresh === 0) this.#factors.clear()
  }

  #factorsOf({ size, wait }: Traits): Range {
    const cell = { size: Math.round(size * cells) / cells, wait: Math.round(wait * cells) / cells }
    const key = `${cell.size} ${cell.wait}`
    const known = this.#factors.get(key)
    if (known) return known
    const byDistance = this.#finished.map((job) => ({
      job,
      distance: Math.hypot(job.size - cell.size, job.wait - cell.wait),
    }))
    const alike = byDistance.sort((a, b) => a.distance - b.distance).slice(0, mostCompared)
    const factor = (side: keyof Range, part: number) =>
      Math.exp(
        quantile(
          alike.map(({ job }) => job[side]),
          part,
        ),
      )
    const factors = {
      low: factor('low', outer),
      expected: factor('expected', 0.5),
      high: factor('high', 1 - outer),
    }
    this.#factors.set(key, factors)
    return factors
  }
}

/** Without experience. */
function baseOf({ seconds, waitSeconds }: Expected): Range {
  const atLeast = (value: number) => Math.max(shortestS, value)
  return {
    low: atLeast(seconds.low),
    expected: atLeast(waitSeconds + seconds.expected),
    high: atLeast(waitSeconds + seconds.high),
  }
}

/** Jobs of about the same size that waited about as long are off by about the same. */
function traitsOf({ seconds, waitSeconds }: Expected): Traits {
  const size = Math.max(shortestS, seconds.expected)
  return { size: Math.log(size), wait: Math.log1p(waitSeconds / size) }
}

/** That part of further values lies below it. */
function quantile(values: number[], part: number): number {
  values.sort((a, b) => a - b)
  const at = Math.min(values.length - 1, Math.max(0, part * (values.length + 1) - 1))
  const [below, above] = [values[Math.floor(at)]!, values[Math.ceil(at)]!]
  return below + (above - below) * (at % 1)
}
