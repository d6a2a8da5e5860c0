/** A quote as the brain counts it: the overhead is part of what a job needs. */

import type { Estimate } from '../model/estimate.ts'
import type { Quote } from './estimator.ts'

export function brainEstimate({
  work,
  low,
  high,
  unproven,
  overhead,
}: Quote): Pick<Estimate, 'work' | 'low' | 'high' | 'unproven'> {
  const more = overhead?.work ?? 0
  return { work: work + more, low: low + more, high: high + more, ...(unproven && { unproven }) }
}
