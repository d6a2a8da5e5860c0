/** Detects when a job has progressed enough to be reported. */

import type { WorkDone } from '../model/cost.ts'
import type { Metric, Tally } from '../model/metrics.ts'

export class Milestones {
  readonly #every: readonly [metric: Metric | 'work', amount: number][]
  #last: WorkDone = { work: 0 }

  /** An amount of work, or amounts of one or more metrics, of which the first that is reached counts. */
  constructor(every: number | Tally) {
    this.#every =
      typeof every === 'number' ? [['work', every]] : (Object.entries(every) as [Metric, number][])
  }

  /** Whether a milestone was passed since the last call that returned true. */
  passed(done: WorkDone): boolean {
    const amountOf = ({ work, tally }: WorkDone, metric: Metric | 'work') =>
      metric === 'work' ? work : (tally?.[metric] ?? 0)
    const grown = this.#every.some(
      ([metric, amount]) => amountOf(done, metric) - amountOf(this.#last, metric) >= amount,
    )
    if (grown) this.#last = done
    return grown
  }
}
