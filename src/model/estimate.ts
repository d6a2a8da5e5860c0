/** The predicted cost of a job. `low` and `high` bound 90 % of such jobs. */
export interface Estimate {
  work: number
  low: number
  high: number
  /** True: the interval has not been confirmed by enough requests. */
  unproven?: true
  source: 'memo' | 'model' | 'similar' | 'prior' | 'simulated'
}

/** Named properties of a request that its cost may depend on. */
export type Features = Record<string, number | string | boolean>

/** What a request takes besides its metered work, in milliseconds with a core to itself. */
export interface Overhead {
  low: number
  expected: number
  high: number
  /** With all the time until the answer, as quotes state it: 90 % lie between `low` and `high`. Default: the above. */
  elapsed?(): { low: number; expected: number; high: number }
  /** As work at the nominal rate: the brain counts all work at that rate. */
  work: number
}
