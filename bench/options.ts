/** Options of every benchmark. */
export interface BenchOptions {
  /** Runs a fraction of the work. */
  quick: boolean
  /** File for an HTML page with plots, if the benchmark has any. */
  report?: string
  /** `chaos` only: draws what happens. */
  seed?: number
  /** `cold` only: runs beside busy loops on all cores. */
  busy?: boolean
  /** `cold` only: the part of the cores that the jobs need. */
  load?: number
  /** `cold` only: the lengths of the runs of each system, in seconds. */
  runs?: readonly number[]
  /** `cold` only: simulates several loads instead. */
  simulate?: boolean
  /** `cold`: maximum length of a run. `door`, `jobs`: length of a run of the load generator. */
  seconds?: number
  /** `own`: runs one of its two parts. `door`, `jobs`: names of the systems, separated by commas. */
  only?: string
  /** `door` and `jobs`: number of rounds. */
  rounds?: number
  /** `jobs` only: how many callers hand in jobs at once. */
  callers?: number
  /** `door` only: measures, saturates for this number of seconds, and measures again. */
  after?: number
  /** `door` only: a folder for CPU profiles, which are made instead of the measurement. */
  profile?: string
}
