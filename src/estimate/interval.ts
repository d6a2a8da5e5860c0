/**
 * Puts intervals around guesses that hold nine tenths of what comes next, whatever rule guessed (conformal
 * prediction): as wide as those of the guesses before would have had to be, cheap and dear requests apart.
 */

import type { Guess } from './estimator.ts'

/** So many of what comes next are to lie below the interval, and as many above. */
const outside = 0.045
/** Guesses that are remembered, of each kind. */
const remembered = 600
/** So many guesses of about the same size are judged together. */
const together = 60
/** Bounds are computed anew with every guess up to so many, then with each of so many that there are. */
const [atOnce, oneIn] = [40, 20]
/** Without any: a hundredth to a hundred times; of a rule that says how sure it is, somewhat more than it says. */
const [unheard, unsure] = [Math.log(100), 1.7]
/** No end of an interval is further away: a millionth, a million times. */
const farthest = Math.log(1e6)
/** A guess that says it cannot be wrong is wrong. */
const narrowest = 1e-3

export interface Interval {
  low: number
  high: number
}

export class Intervals {
  readonly #kinds = new Map<string, Past>()

  around(guess: Guess): Interval {
    const { below, above } = spreadOf(guess)
    const past = this.#kinds.get(kindOf(guess))
    const start = guess.spread ? unsure : unheard
    const reach = past?.reachAt(guess.value) ?? { below: start, above: start }
    return {
      low: guess.value * Math.exp(-Math.min(farthest, below * reach.below)),
      high: guess.value * Math.exp(Math.min(farthest, above * reach.above)),
    }
  }

  /** `actual` is what it was; the guess is the one made before that was known. */
  learn(guess: Guess, actual: number): void {
    const off = Math.log(actual / guess.value)
    if (!Number.isFinite(off)) return
    const { below, above } = spreadOf(guess)
    const kind = kindOf(guess)
    const past = this.#kinds.get(kind) ?? new Past()
    this.#kinds.set(kind, past)
    past.add({ value: guess.value, score: off < 0 ? off / below : off / above })
  }
}

/** Rules are judged apart: what is remembered exactly says nothing of what is made up. */
function kindOf({ reason }: Guess): string {
  return reason.code
}

function spreadOf({ spread }: Guess): { below: number; above: number } {
  if (!spread) return { below: 1, above: 1 }
  return { below: Math.max(narrowest, spread.below), above: Math.max(narrowest, spread.above) }
}

/** A guess, and how many spreads it was off. */
interface Judged {
  value: number
  score: number
}

/** How many spreads to either side all but `outside` of what comes next lie. */
interface Reach {
  below: number
  above: number
}

/** The last guesses of a kind. */
class Past {
  readonly #judged: Judged[] = []
  #next = 0
  #since = 0
  /** In ascending order of values: up to where, and how far. */
  #reaches: (Reach & { upTo: number })[] = []

  add(judged: Judged): void {
    this.#judged[this.#next] = judged
    this.#next = (this.#next + 1) % remembered
    this.#since++
    if (this.#judged.length <= atOnce || this.#since * oneIn >= this.#judged.length) this.#judge()
  }

  reachAt(value: number): Reach | undefined {
    return this.#reaches.find(({ upTo }) => value <= upTo)
  }

  #judge(): void {
    this.#since = 0
    const sorted = this.#judged.toSorted((a, b) => a.value - b.value)
    const count = Math.max(1, Math.floor(sorted.length / together))
    const at = (group: number) => Math.floor((group * sorted.length) / count)
    this.#reaches = Array.from({ length: count }, (_, group) => {
      const upTo = group === count - 1 ? Number.POSITIVE_INFINITY : sorted[at(group + 1)]!.value
      // Half of each neighbour helps: a group by itself is small.
      const [first, last] = [at(Math.max(0, group - 0.5)), at(Math.min(count, group + 1.5))]
      return { upTo, ...reachOf(sorted.slice(first, last).map(({ score }) => score)) }
    })
  }
}

function reachOf(scores: number[]): Reach {
  const sorted = Float64Array.from(scores).sort()
  const n = sorted.length
  // Of n + 1 equally likely places in the order, the next one has any.
  const beyond = Math.floor(outside * (n + 1)) - 1
  const side = (extreme: number, edge: number) =>
    // So few that none of them is rare enough: somewhat more than the farthest.
    beyond < 0 ? Math.max(0, extreme) * (1 + 4 / n) + 4 / n : Math.max(0, edge)
  return {
    below: side(-sorted[0]!, -sorted[Math.max(0, beyond)]!),
    above: side(sorted[n - 1]!, sorted[n - 1 - Math.max(0, beyond)]!),
  }
}
