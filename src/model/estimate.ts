/** What a job is expected to cost. `low` and `high` bound 90 % of such jobs. */
export interface Estimate {
  work: number
  low: number
  high: number
  source: 'memo' | 'model' | 'similar' | 'prior' | 'simulated'
}

/** What an estimator may go by, by name. */
export type Features = Record<string, number | string | boolean>
