/**
 * What a job is expected to need in all once it has passed its estimate. Worker and brain both apply this, so they
 * agree on what is left.
 */

/** What was said of a job; `high` is above 95 % of such jobs. */
export interface Said {
  work: number
  high?: number
}

/** A job that passes its estimate by less than this factor is about to end more often than not. */
export const overrun = 1.5
/** How far the 95th percentile of a logistic distribution is from its middle. */
const toHigh = Math.log(19)
/** One in 400 gets as far if the interval is true. Then it is not, and what has lasted long lasts longer. */
const mostBelieved = Math.log(399)
const [least, most] = [1.25, 10]

/**
 * The estimate stands until the job passes `overrun` times it. Then it is the middle of those that got as far, if costs
 * are spread as the interval says (log-logistic), or twice what is done where nobody knows or none should have got there.
 */
export function revisedWork({ work, high }: Said, done: number): number {
  if (done < work * overrun) return work
  const spread = high !== undefined && high > work && work > 0 ? Math.log(high / work) / toHigh : 0
  const passed = Math.log(done / work) / spread
  if (!(spread > 0 && passed < mostBelieved)) return done * 2
  const middle = work * (1 + 2 * Math.exp(passed)) ** spread
  return Math.min(most * done, Math.max(least * done, middle))
}
