/** How many iterations a pattern may take until nothing changes any more, from its rates alone. */

import type { Rates } from './reaction.ts'

/** Where V dies out everywhere, and where it fills the square: how far kill is from where V can just live. */
const diesAbove = 0.006
const fillsBelow = -0.0085
/** What is left of U to be fed when V is gone. */
const lackingU = 0.5

/** Infinity where a pattern is likely to live on. */
export function likelyIterations({ feed, kill }: Rates, settledChange: number): number {
  const excess = kill + feed - Math.sqrt(feed) / 2
  if (feed === 0 || (excess <= diesAbove && excess >= fillsBelow)) return Number.POSITIVE_INFINITY
  // U nears what it will be by `feed` of the difference in each iteration.
  const relaxed = Math.log(Math.max(Math.E, (feed * lackingU) / settledChange)) / feed
  return (excess > diesAbove ? 1.15 : 2.7) * relaxed
}
