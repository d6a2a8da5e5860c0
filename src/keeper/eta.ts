/**
 * When jobs will probably have ended: intervals around what their quotes say, as wide as the errors of jobs that have ended
 * require. Each bound follows the quantile that it is to be: a job that ends beyond it moves it by a large step, every other
 * job by a small one back. So in the long run one job in 25 ends beyond it, whatever the errors are.
 */

import { type Entry, Heap } from '../lib/heap.ts'

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

/** When the job was expected to have ended; undefined: nothing was known. */
export function endOf({ acceptedAt, quote }: { acceptedAt: number; quote: unknown }): number | undefined {
  const { ends } = (quote ?? {}) as Partial<WithEnds>
  return ends && acceptedAt + ends.expected * 1000
}

/** This part of all jobs ends beyond each bound: a little less than a twentieth, for the jobs from which a new keeper learns. */
const beyond = 0.04
/** How far a job that ends beyond a bound moves it. The first jobs of a kind move it further. */
const stepAfter = (jobs: number) => 0.4 * Math.max(1, 2 / Math.sqrt(1 + jobs))
/** Storing, sending and answering take this long, besides the job. */
const besidesS = 0.02
/** Intervals of quotes may be empty: these are the least logarithms of the factors to their bounds. */
const [leastEarly, leastLate] = [0.05, 0.1]
/** Added to the latter for a job that only waits: nobody knows what will arrive before it starts. */
const waiting = 0.5

/** How far the bounds are outside those of quotes, as logarithms of factors. */
interface Bounds {
  jobs: number
  early: number
  late: number
}

export class Etas {
  readonly #bounds = new Map<string, Bounds>()
  readonly #open = new Map<string, Open>()
  /** Jobs that are not late yet, by when they will be. */
  readonly #due = new Heap<Open>()
  #number = 0

  /**
   * The job is accepted: its quote with the end that it leads to, if anything is known. `aheadS`: the wait before the cluster
   * is given the job. Times are in milliseconds.
   */
  accepted(id: string, quote: unknown, { now, aheadS = 0 }: { now: number; aheadS?: number }): unknown {
    const { waitSeconds } = (quote ?? {}) as Partial<QuotedTimes>
    if (typeof waitSeconds !== 'number') return quote
    this.#noteLate(now)
    const whole = { ...(quote as QuotedTimes), waitSeconds: waitSeconds + aheadS }
    const scale = scaleOf(whole)
    if (!scale) return quote
    const { expected, early, late } = scale
    const open = { bounds: this.#boundsOf(scale), expected, early, late, acceptedAt: now, isLate: false }
    const { earliest, latest } = endsOf(open)
    this.#open.set(id, open)
    this.#await(open, latest)
    return {
      ...whole,
      ends: {
        earliest,
        expected: Math.min(latest, Math.max(earliest, expected)),
        latest,
      } satisfies EtaSeconds,
    }
  }

  /** The job has ended; `isAnswered`: it was not cancelled. */
  ended(id: string, now: number, isAnswered = true): void {
    this.#noteLate(now)
    const open = this.#open.get(id)
    if (!open) return
    this.#open.delete(id)
    if (open.entry) this.#due.remove(open.entry)
    if (!isAnswered) return
    const { bounds, expected, early, late, isLate, acceptedAt } = open
    const error = Math.log(Math.max(now - acceptedAt, 0.001) / 1000 / expected)
    const step = stepAfter(bounds.jobs++)
    bounds.early += -error > early + bounds.early ? step * (1 - beyond) : -step * beyond
    if (!isLate) bounds.late += error > late + bounds.late ? step * (1 - beyond) : -step * beyond
  }

  /** Jobs that should have ended by now, and have not, say so before they end. */
  #noteLate(now: number): void {
    while (this.#due.topKey() <= now) {
      const open = this.#due.pop()!
      open.entry = undefined
      const { latest } = endsOf(open)
      // The bound was moved since.
      if (open.acceptedAt + latest * 1000 > now) this.#await(open, latest)
      else {
        open.isLate = true
        const { bounds } = open
        bounds.late += stepAfter(bounds.jobs) * (1 - beyond)
      }
    }
  }

  #await(open: Open, latest: number): void {
    open.entry = this.#due.push(open, open.acceptedAt + latest * 1000, ++this.#number)
  }

  #boundsOf({ kind }: Scale): Bounds {
    const known = this.#bounds.get(kind)
    if (known) return known
    const fresh = { jobs: 0, early: 0, late: 0 }
    this.#bounds.set(kind, fresh)
    return fresh
  }
}

/** Kept for every open job, so it is small. */
interface Open extends Omit<Scale, 'kind'> {
  /** Of jobs of its kind. */
  bounds: Bounds
  acceptedAt: number
  isLate: boolean
  entry?: Entry<Open> | undefined
}

function endsOf({ bounds, expected, early, late }: Open): Pick<EtaSeconds, 'earliest' | 'latest'> {
  const earliest = expected * Math.exp(-early - bounds.early)
  return { earliest, latest: Math.max(earliest, expected * Math.exp(late + bounds.late)) }
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
