/** What every benchmark is told. */
export interface BenchOptions {
  /** A tenth of the work, for a first look. */
  quick: boolean
  /** Where to write a page with plots, for those that draw any. */
  report?: string
}
