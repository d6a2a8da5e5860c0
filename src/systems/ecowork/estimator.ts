/** EcoWork's estimator: slopes, kept in the ledger if an interval is given. */

import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import type { EstimatorParts } from '../estimator.ts'
import { slopeStore, slopesName } from './slope-store.ts'
import { slopes } from './slopes.ts'

export interface SlopeEstimatorOptions {
  /** The interval at which measurements are applied and changes stored. Undefined: applied at once, never stored. */
  writeEveryMs?: number
}

export function slopeEstimator(
  { writeEveryMs }: SlopeEstimatorOptions,
  { ledger, log }: EstimatorParts,
): WorkEstimator {
  if (writeEveryMs === undefined) return { rule: () => slopes() }
  const tables = slopeStore(ledger, writeEveryMs)
  return {
    rule: (workload) => tables.rule(workload),
    restore(snapshot) {
      if (snapshot.name === slopesName) tables.restore(snapshot)
    },
    warmed: () => tables.write(),
    async store(question, measured) {
      tables.rule(question.workload).learn(question, measured.work)
      tables.write()
      await ledger.flush().catch((error: Error) => log(`estimate: ${error.message}`))
    },
    async close() {
      tables.close()
    },
  }
}
