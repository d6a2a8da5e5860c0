/**
 * Intervals around guesses that hold 90 % of actual costs, whatever the rule (conformal prediction): as wide as recent
 * guesses of similar size would have needed.
 */

import type { Guess } from './estimator.ts'

/** Share of actual costs that may lie below the interval, and the same above. */
const outside = 0.045
/** Guesses remembered per rule. */
const remembered = 600
/** Guesses per group of similar size. */
const groupSize = 60
/** Bounds are recomputed after every guess up to 40 guesses, then whenever a 20th of the guesses is new. */
const [alwaysUpTo, newShare] = [40, 20]
/** Reach before any guess was checked: a factor of 100, or 1.7 spreads if the rule reports a spread. */
const [reachWithoutSpread, reachInSpreads] = [Math.log(100), 1.7]
/** An interval reaches at most a factor of a million to either side. */
const farthest = Math.log(1e6)
/** Errors of models that were outgrown are clipped at 3 spreads, and dropped once there are 20 others. */
const [mostOutgrown, enoughOthers] = [3, 20]
/** Models of this many measurements are never outgrown, and know their spread. */
const settledRows = 50
/** Smallest spread: no guess is exact. */
const narrowest = 1e-3

export interface Interval {
  low: number
  high: number
}

export class Intervals {
  readonly #byRule = new Map<string, PastGuesses>()

  around(guess: Guess): Interval {
    const { below, above } = spreadOf(guess)
    const past = this.#byRule.get(guess.reason.code)
    const start = guess.spread ? reachInSpreads : reachWithoutSpread
    const reach = past?.reachAt(guess.value) ?? { below: start, above: start }
    const unchecked = (guess.unchecked ?? 0) * reachInSpreads
    return {
      low: guess.value * Math.exp(-Math.min(farthest, Math.hypot(below * reach.below, unchecked))),
      high: guess.value * Math.exp(Math.min(farthest, Math.hypot(above * reach.above, unchecked))),
    }
  }

  /** `guess` is the one made before `actual` was known. */
  learn(guess: Guess, actual: number): void {
    const off = Math.log(actual / guess.value)
    if (!Number.isFinite(off)) return
    const { below, above } = spreadOf(guess)
    // Each rule has its own history: the errors of a memo say nothing about those of a prior.
    const rule = guess.reason.code
    const past = this.#byRule.get(rule) ?? new PastGuesses()
    this.#byRule.set(rule, past)
    const score = off / Math.hypot(off < 0 ? below : above, guess.unchecked ?? 0)
    past.add({ value: guess.value, score, rows: Number(guess.reason.rows ?? 0) })
  }
}

function spreadOf({ spread }: Guess): { below: number; above: number } {
  if (!spread) return { below: 1, above: 1 }
  return { below: Math.max(narrowest, spread.below), above: Math.max(narrowest, spread.above) }
}

/** A guess and its error in spreads. */
interface Scored {
  value: number
  score: number
  /** Measurements that the guess was based on; 0: unknown. */
  rows: number
}

/** Distance in spreads beyond which only the share `outside` lies, on each side. */
interface Reach {
  below: number
  above: number
}

/** The most recent guesses of one rule. */
class PastGuesses {
  readonly #scored: Scored[] = []
  #next = 0
  #since = 0
  /** Measurements behind the newest guess. */
  #rows = 0
  /** One reach per group of values, in ascending order of the groups' upper bounds. */
  #reaches: (Reach & { upTo: number })[] = []

  add(scored: Scored): void {
    this.#scored[this.#next] = scored
    this.#rows = scored.rows
    this.#next = (this.#next + 1) % remembered
    this.#since++
    const count = this.#scored.length
    if (count <= alwaysUpTo || this.#since * newShare >= count) this.#update()
  }

  reachAt(value: number): Reach | undefined {
    return this.#reaches.find(({ upTo }) => value <= upTo)
  }

  #update(): void {
    this.#since = 0
    const sorted = relevant(this.#scored, this.#rows).toSorted((a, b) => a.value - b.value)
    const count = Math.max(1, Math.floor(sorted.length / groupSize))
    const at = (group: number) => Math.floor((group * sorted.length) / count)
    this.#reaches = Array.from({ length: count }, (_, group) => {
      const upTo = group === count - 1 ? Number.POSITIVE_INFINITY : sorted[at(group + 1)]!.value
      // Groups are small, so half of each neighbouring group is included.
      const [first, last] = [at(Math.max(0, group - 0.5)), at(Math.min(count, group + 1.5))]
      const scores = sorted.slice(first, last).map(({ score }) => score)
      return { upTo, ...reachOf(scores, this.#rows >= settledRows) }
    })
  }
}

/**
 * A model with half as many measurements knew much less, and the first ones are often far off. Their errors count little
 * at first, and not at all when there are enough others.
 */
function relevant(scored: readonly Scored[], rows: number): readonly Scored[] {
  const isOutgrown = (each: Scored) => each.rows < Math.min(rows / 2, settledRows)
  const outgrown = scored.filter(isOutgrown).length
  if (outgrown === 0) return scored
  if (scored.length - outgrown >= enoughOthers) return scored.filter((each) => !isOutgrown(each))
  return scored.map((each) =>
    isOutgrown(each) ? { ...each, score: Math.max(-mostOutgrown, Math.min(mostOutgrown, each.score)) } : each,
  )
}

/** `knowsSpread`: a few scores need not prove that the spread of the rule is about right. */
function reachOf(scores: number[], knowsSpread: boolean): Reach {
  const sorted = Float64Array.from(scores).sort()
  const n = sorted.length
  // The next score is equally likely to take any of n + 1 ranks.
  const beyond = Math.floor(outside * (n + 1)) - 1
  // With too few scores to reach the quantile.
  const beyondExtreme = (extreme: number) =>
    knowsSpread ? Math.max(reachInSpreads, extreme) : extreme * (1 + 4 / n) + 4 / n
  const side = (extreme: number, edge: number) =>
    beyond < 0 ? beyondExtreme(Math.max(0, extreme)) : Math.max(0, edge)
  return {
    below: side(-sorted[0]!, -sorted[Math.max(0, beyond)]!),
    above: side(sorted[n - 1]!, sorted[n - 1 - Math.max(0, beyond)]!),
  }
}
