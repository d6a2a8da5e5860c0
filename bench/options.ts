/** Options of every benchmark. */
export interface BenchOptions {
  /** Runs a fraction of the work. */
  quick: boolean
  /** File for an HTML page with plots, if the benchmark has any. */
  report?: string
  /** `cold` only: runs beside busy loops on all cores. */
  busy?: boolean
  /** `cold` only: maximum length of a run. */
  seconds?: number
  /** `own` only: runs one of its two parts. */
  only?: 'estimates' | 'path'
}
