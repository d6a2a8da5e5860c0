/** The measured cost of an attempt. */

import type { Quantities } from './metering.ts'
import type { Tally } from './metrics.ts'

/** How work was measured: by the meter, by the program (`plimsoll-work`), or as CPU time or elapsed time in µs. */
export type Measure = 'meter' | 'header' | 'cpu' | 'time'

/** The cost of an attempt, as measured by its worker. */
export interface Cost {
  /** How `work` was measured. */
  measure: Measure
  work: number
  cpuMs: number
  wallMs: number
  peakMemoryMb: number
  /** By metric, if the meter's mode counts metrics. */
  tally?: Tally
  /** Sums of metrics that the answer carried in separate headers. */
  quantities?: Quantities
}

/** Work that the meter has counted so far. */
export interface WorkDone {
  work: number
  /** By metric, if the meter's mode counts metrics. */
  tally?: Tally
}
