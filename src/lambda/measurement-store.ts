/** Where functions write what they have measured, before they answer. */

import type { Quantities } from '../model/metering.ts'
import type { Tally } from '../model/metrics.ts'

/** What one job has cost. */
export interface Measurement {
  workload: string
  /** As the client sent them. */
  params: unknown
  work: number
  /** By metric, if the meter's mode counts metrics. */
  tally?: Tally
  /** Sums of metrics that the preset names, by header. */
  quantities?: Quantities
  cpuMs: number
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt: number
}

/** Stores what a function measures. */
export interface MeasurementStore {
  /** Resolves when it is stored. If it rejects, that is logged, and the answer is sent all the same. */
  store(measurement: Measurement): Promise<void>
}
