/**
 * The tables of the published systems in DynamoDB, as their documents have them. The balancer writes them beside its ledger:
 * workers measure, but only the balancer knows what a request asked for and which job it is.
 */
import { openDynamo } from '../aws/dynamo/dynamo.ts'
import type { DynamoLocation } from '../aws/dynamo/location.ts'
import { type WriteQueue, writeQueue } from '../aws/dynamo/write-queue.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { cloudprimeTable } from './cloudprime/table.ts'
import { cnvTable } from './cnv/table.ts'
import { ecoworkTables } from './ecowork/tables.ts'
import type { EstimatorName } from './estimators.ts'
import { hillclimbingTables } from './hillclimbing/tables.ts'
import type { Instances, SystemTables, TableParts } from './system-tables.ts'

/** By the estimator that reads them. The tables exist when it resolves. */
const makers: Readonly<Record<EstimatorName, (parts: TableParts) => Promise<SystemTables>>> = {
  'rank-memo': cloudprimeTable,
  'log-polynomial': cnvTable,
  'similar-requests': hillclimbingTables,
  slopes: ecoworkTables,
}

export interface OpenTables {
  ledger: Ledger
  instances: Instances | undefined
  close(): Promise<void>
}

/** The ledger with a system's tables in front of it. Rejects if they cannot be made. Closing does not close the ledger. */
export async function openTables(
  rule: EstimatorName,
  location: DynamoLocation,
  ledger: Ledger,
  log: (line: string) => void,
): Promise<OpenTables> {
  const dynamo = await openDynamo(location)
  const queue = writeQueue(log)
  try {
    const tables = await makers[rule]({ dynamo, prefix: location.prefix, ledger, queue, log })
    return {
      ledger: inFront(ledger, tables.ledger, queue),
      instances: tables.instances,
      async close() {
        await queue.flush()
        dynamo.close()
      },
    }
  } catch (error) {
    dynamo.close()
    throw error
  }
}

function inFront(ledger: Ledger, instead: Partial<Ledger>, queue: WriteQueue): Ledger {
  return {
    record: (row) => ledger.record(row),
    recordMetrics: (row) => ledger.recordMetrics(row),
    releaseMetrics: (owner) => ledger.releaseMetrics(owner),
    saveSnapshot: (snapshot) => ledger.saveSnapshot(snapshot),
    snapshots: (workload) => ledger.snapshots(workload),
    metricsFor: (key) => ledger.metricsFor(key),
    recentMetrics: (query) => ledger.recentMetrics(query),
    recent: (query) => ledger.recent(query),
    warm: (query) => ledger.warm(query),
    counts: () => ledger.counts(),
    close: () => ledger.close(),
    ...instead,
    async flush() {
      await queue.flush()
      await ledger.flush()
    },
  }
}
