/** Options of every benchmark. */
export interface BenchOptions {
  /** About a tenth of the work, for a first look. */
  quick: boolean
  /** Where to write an HTML report, if the benchmark has one. */
  report?: string
}
