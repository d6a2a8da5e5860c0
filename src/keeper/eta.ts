/**
 * When jobs will probably have ended: intervals around what their quotes say, as wide as the errors of jobs that have ended
 * require. Each bound follows the quantile that it is to be: a job that ends beyond it moves it by a large step, every other
 * job by a small one back. So in the long run one job in 25 ends beyond it, whatever the errors are.
 */

/** What is read of a quote. Seconds. */
export interface QuotedTimes {
  seconds: { expected: number; low: number; high: number }
  /** Null: no worker was ready. */
  waitSeconds: number | null
}

/** Seconds after the job was accepted. */
export interface EtaSeconds {
  earliest: number
  expected: number
  latest: number
}

/** A quote as it is stored with a kept job. */
export interface WithEnds {
  /** When the job will probably have ended. */
  ends: EtaSeconds
}

/** This part of all jobs ends beyond each bound: a little less than a twentieth, for the jobs from which a new keeper learns. */
const beyond = 0.04
/** How far a job that ends beyond a bound moves it. The first jobs of a kind move it further. */
const stepAfter = (jobs: number) => 0.4 * Math.max(1, 4 / Math.sqrt(1 + jobs))
/** Storing, sending and answering take this long, besides the job. */
const besidesS = 0.02
/** Intervals of quotes may be empty: these are the least logarithms of the factors to their bounds. */
const [leastEarly, leastLate] = [0.05, 0.1]
/** Added to the latter for a job that only waits: nobody knows what will arrive before it starts. */
const waiting = 0.5

/** Where the bounds are, in units of the quote's own interval. */
interface Bounds {
  jobs: number
  early: number
  late: number
}

export class Etas {
  readonly #bounds = new Map<string, Bounds>()

  /** Undefined: nothing is known, for example because no worker was ready. */
  of(quote: unknown): EtaSeconds | undefined {
    const scale = scaleOf(quote)
    if (!scale) return undefined
    const { expected, early, late } = scale
    const bounds = this.#boundsOf(scale)
    const earliest = expected * Math.exp(-bounds.early * early)
    const latest = Math.max(earliest, expected * Math.exp(bounds.late * late))
    return { earliest, expected: Math.min(latest, Math.max(earliest, expected)), latest }
  }

  /** The quote with the end that it leads to. `aheadS`: the wait before the cluster is given the job. */
  withEnds(quote: unknown, aheadS: number): unknown {
    const { waitSeconds } = (quote ?? {}) as Partial<QuotedTimes>
    if (typeof waitSeconds !== 'number') return quote
    const whole = { ...(quote as QuotedTimes), waitSeconds: waitSeconds + aheadS }
    return { ...whole, ends: this.of(whole) }
  }

  /** A job with this quote has ended `seconds` after it was accepted. */
  ended(quote: unknown, seconds: number): void {
    const scale = scaleOf(quote)
    if (!scale) return
    const bounds = this.#boundsOf(scale)
    const error = Math.log(Math.max(seconds, 1e-6) / scale.expected)
    const step = stepAfter(bounds.jobs++)
    bounds.early += -error > bounds.early * scale.early ? step * (1 - beyond) : -step * beyond
    bounds.late += error > bounds.late * scale.late ? step * (1 - beyond) : -step * beyond
  }

  #boundsOf({ kind }: Scale): Bounds {
    const known = this.#bounds.get(kind)
    if (known) return known
    const fresh = { jobs: 0, early: 1, late: 1.5 }
    this.#bounds.set(kind, fresh)
    return fresh
  }
}

interface Scale {
  /** Jobs of a kind have bounds of their own: long ones are overtaken more often, and waits are less certain than runs. */
  kind: string
  expected: number
  /** Logarithms of the factors to the bounds of the quote. */
  early: number
  late: number
}

function scaleOf(quote: unknown): Scale | undefined {
  const { seconds, waitSeconds: waitS } = (quote ?? {}) as Partial<QuotedTimes>
  if (!seconds || typeof waitS !== 'number' || !(seconds.expected >= 0)) return undefined
  const expected = waitS + seconds.expected + besidesS
  const early = Math.log(expected / (seconds.low + besidesS / 2)) + leastEarly
  const late =
    Math.log((waitS + seconds.high + besidesS) / expected) + leastLate + (waiting * waitS) / expected
  const size = Math.round(Math.log(Math.max(seconds.expected, 1e-9)) / Math.log(8))
  const kind = `${Math.min(2, Math.max(-2, size))} ${waitS > 0}`
  return { kind, expected, early: Math.max(early, leastEarly), late: Math.max(late, leastLate) }
}
