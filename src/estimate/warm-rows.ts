/** Rows of the ledger as questions and measurements. */

import type { WarmRow } from '../ledger/ledger.ts'
import type { Features } from '../model/estimate.ts'
import type { Measurement, Question } from './estimator.ts'
import { readQuantities } from './quantities.ts'

export function measurementOf({ quantities, ...row }: WarmRow): Measurement {
  const amounts = readQuantities(quantities)
  return { ...row, ...(amounts && { quantities: amounts }) }
}

/** Undefined: the row cannot be read. */
export function questionOf(
  workload: string,
  { codeHash, key, parameters, features }: WarmRow,
): Question | undefined {
  try {
    const seen: unknown = JSON.parse(features)
    if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) return undefined
    return { workload, codeHash, key, params: JSON.parse(parameters), features: seen as Features }
  } catch {
    return undefined
  }
}
