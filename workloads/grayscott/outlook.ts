/** Predicts the iterations until a pattern is stable, from its rates. */

import type { Rates } from './reaction.ts'

/** Excess of kill over the survival limit of V above which V dies out, and below which V fills the square. */
const diesAbove = 0.006
const fillsBelow = -0.0085
/** Share of U to be replenished when V is gone. */
const lackingU = 0.5

/** Infinity if the pattern is likely to persist. */
export function likelyIterations({ feed, kill }: Rates, settledChange: number): number {
  const excess = kill + feed - Math.sqrt(feed) / 2
  if (feed === 0 || (excess <= diesAbove && excess >= fillsBelow)) return Number.POSITIVE_INFINITY
  // In each iteration U approaches its final value by the share `feed` of the difference.
  const relaxed = Math.log(Math.max(Math.E, (feed * lackingU) / settledChange)) / feed
  return (excess > diesAbove ? 1.15 : 2.7) * relaxed
}
