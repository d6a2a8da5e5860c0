/** Opens the ledger of a live cluster, and the estimator that starts from its rows. */

import { join } from 'node:path'
import { isDynamo, parseDynamo } from '../aws/dynamo/location.ts'
import { type ClusterEstimator, clusterEstimator } from '../estimate/cluster-estimator.ts'
import type { Estimator, Question } from '../estimate/estimator.ts'
import type { Overheads } from '../estimate/overheads.ts'
import type { FleetRates } from '../estimate/rates.ts'
import type { RouteUnits } from '../estimate/route-units.ts'
import type { Functions } from '../front/transports/function.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openSqliteLedger } from '../ledger/sqlite.ts'
import type { MeterSetting } from '../model/metering.ts'
import { estimatorOf } from '../systems/estimators.ts'
import type { Instances } from '../systems/system-tables.ts'
import { openTables } from '../systems/tables.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { learnTimes } from './finished-jobs.ts'
import { storing } from './functions/storing.ts'
import { LearningSample } from './learning-sample.ts'
import { type FoundModel, findModels } from './shipped-models.ts'

export interface LearningParts {
  /** Nominal work per millisecond of CPU time. */
  nominal: number
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
  meter: MeterSetting
  units: RouteUnits | undefined
  rates: FleetRates
  overheads: Overheads
  /** The id of the functions; undefined: none. */
  functions: string | undefined
  log(line: string): void
}

export interface Learning {
  ledger: Ledger
  /** Where a published system keeps the outstanding work of its workers. Default: nowhere. */
  instances: Instances | undefined
  estimator: Estimator
  /** Undefined: all jobs are learned from, as estimators of users and of presets expect. */
  sample: LearningSample | undefined
  /** True: the estimator does not learn from this workload's costs on this worker. */
  ignores(worker: string, workload: string): boolean
  /** Lets the estimator learn from the ledger's rows of these workloads, as it did for all at the start. */
  warm(workloads: readonly string[]): Promise<void>
  /** Functions for this request; if the estimator keeps a store, they write their measurement to it before they answer. */
  storingFor(functions: Functions, question: Question): Functions
}

/** Everything opened is closed by `opening`. */
export async function openLearning(
  options: ClusterOptions,
  parts: LearningParts,
  opening: AsyncDisposableStack,
): Promise<Learning> {
  const { nominal, code, units, rates, overheads, log } = parts
  const { ruled, unmeteredAway = [], dataDir } = options
  const { ledger, instances } = await openLedger(options, log, opening)
  const ignores = (worker: string, workload: string) =>
    worker === parts.functions && unmeteredAway.includes(workload)
  const learning = options.estimator
    ? undefined
    : clusterEstimator({
        workPerCpuMs: nominal,
        ...(ruled && { work: estimatorOf(ruled, { ledger, dataDir, log }) }),
        ...{ ignores, ledger, log },
      })
  opening.defer(() => learning?.close())
  const warm = async (workloads: readonly string[]) => {
    for (const name of workloads) {
      await learning?.warm(name, (row) => {
        if (units) units.learn(row.worker, name, row)
        else learnTimes({ rates, overheads }, row.worker, name, row)
      })
    }
  }
  const shipped = units ? undefined : await findModels(options.files, parts.meter, log)
  for (const [name, hash] of Object.entries(code)) {
    const found = shipped?.get(name)
    if (found && learning) startFrom(found, hash, learning, rates)
  }
  await warm(Object.keys(code))
  return {
    ...{ ledger, instances, ignores, warm },
    sample: options.estimator || ruled ? undefined : new LearningSample(),
    // Estimators of users and of presets count as they say.
    estimator: options.estimator ?? (ruled ? learning! : withOverheads(learning!, units ? undefined : parts)),
    storingFor(functions, question) {
      if (!learning || ignores(functions.id, question.workload)) return functions
      return storing(functions, (cost) => learning.store(question, cost))
    },
  }
}

/** A published system has its own tables if the store is in DynamoDB. */
async function openLedger(
  { dataDir, ruled, keep }: ClusterOptions,
  log: (line: string) => void,
  opening: AsyncDisposableStack,
): Promise<Pick<Learning, 'ledger' | 'instances'>> {
  const ledger = await openSqliteLedger({
    file: join(dataDir, 'ledger.db'),
    onError: (error) => log(`ledger: ${error.message}`),
  })
  opening.defer(() => ledger.close())
  if (!ruled || keep?.store === undefined || !isDynamo(keep.store)) return { ledger, instances: undefined }
  const tables = await openTables(ruled.rule, parseDynamo(keep.store), ledger, log)
  opening.defer(() => tables.close())
  return tables
}

/** CPU time that the rate of a shipped model counts for: measurements on this machine soon outweigh it. */
const shippedMs = 40

function startFrom(
  { workload, code, workPerMs, model, isCurrent }: FoundModel,
  hash: string,
  learning: ClusterEstimator,
  rates: FleetRates,
): void {
  // A model of other code is carried over, as that of an older version in the ledger is.
  learning.start(workload, isCurrent ? hash : (code[0] ?? ''), model)
  rates.learn('', workload, workPerMs * shippedMs, shippedMs)
}

/** Adds what requests take besides the estimated work. Existing servers are measured by time, which includes it. */
function withOverheads(
  estimator: Estimator,
  times: Pick<LearningParts, 'overheads' | 'rates'> | undefined,
): Estimator {
  if (!times) return estimator
  const { overheads, rates } = times
  const { look } = estimator
  return {
    ...(look && { look: (question) => look.call(estimator, question) }),
    estimate: (question) => {
      const quote = estimator.estimate(question)
      if (quote.overhead) return quote
      const { workload } = question
      const workMs = rates.seconds('', workload, quote.work) * 1000
      return { ...quote, overhead: overheads.of(workload, workMs) }
    },
    learn: (question, measurement) => estimator.learn(question, measurement),
  }
}
