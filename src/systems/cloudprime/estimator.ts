/** CloudPrime's estimator: ranks from memory, a file and the ledger's metrics, else the number itself. */

import { join } from 'node:path'
import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import type { EstimatorParts } from '../estimator.ts'
import { rankMemo } from './rank-memo.ts'
import { rankStore } from './rank-store.ts'

export interface RankEstimatorOptions {
  /** The rank of a request that is still being measured. */
  max?: number
}

export function rankEstimator(
  { max }: RankEstimatorOptions,
  { ledger, dataDir, log }: EstimatorParts,
): WorkEstimator {
  const options = { ...(max !== undefined && { max }) }
  if (dataDir === undefined) return { rule: () => rankMemo(options) }
  const ranks = rankStore({ file: join(dataDir, 'ranks.jsonl'), store: ledger, log })
  return {
    rule: () => rankMemo({ ...options, ranks }),
    look: (question) => ranks.look(question),
    close: () => ranks.settled(),
  }
}
