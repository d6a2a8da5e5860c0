/** EcoWork's estimator: slopes, kept in the ledger if an interval is given. */

import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import type { EstimatorParts } from '../estimator.ts'
import { slopeStore, slopesName } from './slope-store.ts'
import { slopes } from './slopes.ts'

export interface SlopeEstimatorOptions {
  /** The interval at which tables are read, updated and stored. Undefined: measurements apply at once, never stored. */
  writeEveryMs?: number
}

export function slopeEstimator(
  { writeEveryMs }: SlopeEstimatorOptions,
  { ledger, log }: EstimatorParts,
): WorkEstimator {
  if (writeEveryMs === undefined) return { rule: () => slopes() }
  const tables = slopeStore(ledger, writeEveryMs, log)
  return {
    rule: (workload) => tables.rule(workload),
    restore(snapshot) {
      if (snapshot.name === slopesName) tables.restore(snapshot)
    },
    warmed() {
      tables.update()
    },
    async store(question, measured) {
      tables.rule(question.workload).learn(question, measured.work)
      await tables.update()
      await ledger.flush().catch((error: Error) => log(`estimate: ${error.message}`))
    },
    settled: () => tables.update(),
    close: () => tables.close(),
  }
}
