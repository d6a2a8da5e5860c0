/** What a live cluster remembers and learns from: its ledger, and an estimator that starts from what is there. */

import { join } from 'node:path'
import { type ClusterEstimator, clusterEstimator } from '../estimate/cluster-estimator.ts'
import type { Estimator, Question } from '../estimate/estimator.ts'
import type { FleetRates } from '../estimate/rates.ts'
import type { RouteUnits } from '../estimate/route-units.ts'
import type { Functions } from '../front/transports/function.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openSqliteLedger } from '../ledger/sqlite.ts'
import { estimatorOf } from '../systems/estimators.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { storing } from './functions/storing.ts'

export interface LearningParts {
  /** Work in a millisecond of CPU time. */
  nominal: number
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
  units: RouteUnits | undefined
  rates: FleetRates
  /** The name of the functions, if there are any. */
  functions: string | undefined
  log(line: string): void
}

export interface Learning {
  ledger: Ledger
  /** Undefined: another estimator was given. */
  learning: ClusterEstimator | undefined
  estimator: Estimator
  /** True: what was measured there of this workload is not learned from. */
  ignores(place: string, workload: string): boolean
  /** Functions as this request meets them: where that is the rule, they store what they measure before they answer. */
  storingFor(functions: Functions, question: Question): Functions
}

export async function openLearning(options: ClusterOptions, parts: LearningParts): Promise<Learning> {
  const { nominal, code, units, rates, log } = parts
  const { ruled, unmeteredAway = [], dataDir } = options
  const ledger = await openSqliteLedger({
    file: join(dataDir, 'ledger.db'),
    onTrouble: (error) => log(`ledger: ${error.message}`),
  })
  const ignores = (place: string, workload: string) =>
    place === parts.functions && unmeteredAway.includes(workload)
  const learning = options.estimator
    ? undefined
    : clusterEstimator({
        workPerCpuMs: nominal,
        ...(ruled && { work: estimatorOf(ruled, { ledger, dataDir, log }) }),
        ...{ ignores, ledger, log },
      })
  for (const name of Object.keys(code)) {
    await learning?.warm(name, (row) => {
      if (units) units.learn(row.worker, name, row)
      else rates.learn(row.worker, name, row.work, row.cpuMs)
    })
  }
  return {
    ...{ ledger, learning, ignores },
    estimator: options.estimator ?? learning!,
    storingFor(functions, question) {
      if (!learning || ignores(functions.id, question.workload)) return functions
      return storing(functions, (cost) => learning.store(question, cost))
    },
  }
}
