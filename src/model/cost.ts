/** What an attempt cost, and how that was measured. */

import type { Quantities } from './metering.ts'
import type { Tally } from './metrics.ts'

/** What work is: counted by the meter, named by the program in `plimsoll-work`, CPU time, or the time it took, in µs. */
export type Measure = 'meter' | 'header' | 'cpu' | 'time'

/** What an attempt cost, as its worker measured it. */
export interface Cost {
  /** What `work` is. */
  measure: Measure
  work: number
  cpuMs: number
  wallMs: number
  peakMemoryMb: number
  /** Metric by metric, where the meter's mode lets one know. */
  tally?: Tally
  /** Sums of metrics that the answer named in headers of their own. */
  quantities?: Quantities
}

/** What the meter has counted of a job. */
export interface WorkDone {
  work: number
  /** Metric by metric, where the meter's mode lets one know. */
  tally?: Tally
}
