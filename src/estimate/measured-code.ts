/** Code hashes that also say how work was measured: costs in one unit are never mixed with those in another. */

import type { Measure } from '../model/cost.ts'

/** What the meter counts needs no mark: workloads are always measured by it. */
export function measuredCode(hash: string, measure: Measure): string {
  return measure === 'meter' ? hash : `${hash}:${measure}`
}

export function measureIn(codeHash: string): Measure {
  const [, measure = 'meter'] = /:(header|cpu|time)$/.exec(codeHash) ?? []
  return measure as Measure
}
