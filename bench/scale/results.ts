/** Runs and their figures; medians over seeds. */

import { median } from '../../src/simulate/summary.ts'
import type { Figures, Run } from './run.ts'

export interface Result {
  run: Run
  figures: Figures
}

/** Maximum slowdowns: p99 of the shortest 90 %, mean of the largest 1 %. */
export const promise = { short: 1.5, largest: 1.5 }

/** Compares two decimals: three jobs that share two cores have a slowdown of 1.5 plus a rounding error. */
export function keeps({ shortP99Slowdown, largestSlowdown, refused }: Figures): boolean {
  const within = (slowdown: number, bound: number) => Math.round(slowdown * 100) <= bound * 100
  return within(shortP99Slowdown, promise.short) && within(largestSlowdown, promise.largest) && refused === 0
}

/** The median of each figure. */
export function middle(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0]!) as (keyof Figures)[]
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((one) => one[name]))]),
  ) as unknown as Figures
}

/** The cheapest that keeps the promise, or else the one closest to it. */
export function cheapest<T extends { figures: Figures }>(results: readonly T[]): T | undefined {
  const good = results.filter(({ figures }) => keeps(figures))
  if (good.length > 0) return good.reduce((a, b) => (b.figures.workerHours < a.figures.workerHours ? b : a))
  return results.toSorted((a, b) => distance(a.figures) - distance(b.figures))[0]
}

function distance({ shortP99Slowdown, largestSlowdown }: Figures): number {
  return Math.max(shortP99Slowdown / promise.short, largestSlowdown / promise.largest)
}
