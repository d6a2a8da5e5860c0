/** How fast a job runs, beside the rate that all workers announce. */

import type { Job, Speed } from '../model/job.ts'
import type { Quote } from './estimator.ts'
import { widened } from './quote.ts'
import type { Rates } from './rates.ts'

/**
 * The brain counts the work of all jobs at the announced rate. This factor makes that the time that is quoted for the
 * job. `nominal`: the announced work per second. Undefined: the job has no work, or its time is unknown.
 */
export function jobSpeed(
  { workload, work, low = 0 }: Pick<Job, 'workload' | 'work' | 'low'>,
  quote: Pick<Quote, 'work' | 'low' | 'overhead'>,
  rates: Rates,
  nominal: number,
): Speed | undefined {
  const rate = rates.of('', workload)
  const { overhead } = quote
  const least = widened(quote.work, quote.low, -1, rates.sigma?.('', workload) ?? 0)
  const expected = speed(work, quote.work / rate + (overhead?.expected ?? 0) / 1000, nominal)
  if (expected === undefined) return undefined
  return { expected, high: speed(low, least / rate + (overhead?.low ?? 0) / 1000, nominal) ?? expected }
}

function speed(work: number, seconds: number, nominal: number): number | undefined {
  const factor = work / (nominal * seconds)
  // Rates are not known to more digits.
  return factor > 0 && factor < Infinity ? Number(factor.toPrecision(4)) : undefined
}
