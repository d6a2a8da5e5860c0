/** Tells when a job has done so much more that someone is to hear of it. */

import type { WorkDone } from '../../model/cost.ts'
import type { Metric, Tally } from '../../model/metrics.ts'

export class Milestones {
  readonly #every: readonly [metric: Metric | 'work', amount: number][]
  #last: WorkDone = { work: 0 }

  /** Amounts of work, or of one or more metrics: whichever has grown by its amount first. */
  constructor(every: number | Tally) {
    this.#every =
      typeof every === 'number' ? [['work', every]] : (Object.entries(every) as [Metric, number][])
  }

  /** True: one or more have been passed since it was last true. */
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
