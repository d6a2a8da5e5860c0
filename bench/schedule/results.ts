/** Results of runs, with medians over seeds: of figures, and of ratios on the same jobs. */

import { median, type Summary } from '../../src/simulate/summary.ts'
import { contenders, type FleetName, type Run, type SizesName } from './plan.ts'

export type Figure = Exclude<keyof Summary, 'jobs' | 'refused'>

export interface Where {
  fleet: FleetName
  sizes: SizesName
  load: number
}

export interface Who {
  contender: string
  sigma: number
}

export class Results {
  readonly #bySeed = new Map<string, Summary[]>()

  add(run: Run, summary: Summary): void {
    const key = keyOf(run, run)
    const all = this.#bySeed.get(key)
    if (all) all.push(summary)
    else this.#bySeed.set(key, [summary])
  }

  has(who: Who, where: Where): boolean {
    return this.#bySeed.has(keyOf(who, where))
  }

  /** NaN without runs. */
  figure(who: Who, where: Where, figure: Figure): number {
    return median(this.#of(who, where).map((one) => one[figure]))
  }

  /** The median of the ratios on the same jobs, not the ratio of medians. */
  ratio(who: Who, to: Who, where: Where, figure: Figure): number {
    const others = this.#of(to, where)
    return median(
      // A contender that does not depend on the seed has one run.
      this.#of(who, where).map((one, seed) => one[figure] / (others[seed] ?? others[0]!)[figure]),
    )
  }

  #of(who: Who, where: Where): Summary[] {
    return this.#bySeed.get(keyOf(who, where)) ?? []
  }
}

/** Every contender with each of its sigmas. */
export const everyone: readonly Who[] = contenders.flatMap(({ name, sigmas }) =>
  sigmas.map((sigma) => ({ contender: name, sigma })),
)

function keyOf({ contender, sigma }: Who, { fleet, sizes, load }: Where): string {
  return `${contender} ${sigma} ${fleet} ${sizes} ${load}`
}
