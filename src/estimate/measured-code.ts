/** Code hashes that include how work was measured, so that costs in different units are never mixed. */

import type { Measure } from '../model/cost.ts'

/** Metered work needs no mark: workloads are always metered. */
export function measuredCode(hash: string, measure: Measure): string {
  return measure === 'meter' ? hash : `${hash}:${measure}`
}

export function measureIn(codeHash: string): Measure {
  const [, measure = 'meter'] = /:(header|cpu|time)$/.exec(codeHash) ?? []
  return measure as Measure
}
