/** Counts jobs that end within the intervals that they were given. */

import type { WithEnds } from '../../src/keeper/eta.ts'
import { quantile } from '../../src/simulate/summary.ts'

export class Coverage {
  jobs = 0
  inside = 0
  early = 0
  late = 0
  readonly #widths: number[] = []

  add(quote: unknown, seconds: number): void {
    const { ends } = quote as WithEnds
    this.jobs++
    if (seconds < ends.earliest) this.early++
    else if (seconds > ends.latest) this.late++
    else this.inside++
    this.#widths.push(ends.latest / Math.max(ends.earliest, 0.001))
  }

  /** The latest end as a multiple of the earliest, of the median job. */
  get width(): number {
    return quantile(
      [...this.#widths].sort((a, b) => a - b),
      0.5,
    )
  }

  get part(): number {
    return this.inside / this.jobs
  }
}
