/** CloudPrime's metrics table as a view of the ledger. Who may write a row is decided in ledger/metrics.ts. */

import type { Ledger } from '../../ledger/ledger.ts'
import type { MetricsRow } from '../../ledger/metrics.ts'
import type { Tally } from '../../model/metrics.ts'

export interface CloudPrimeRow {
  /** The number to factorize. */
  parameter: string
  basicBlocks: number
  fieldLoads: number
  instructions: number
  stackLoads: number
  rank: number
  /** True: the request is not finished. */
  running: boolean
  /** The owner of the row; both are '' if the owner was lost before the request was finished. */
  instanceId: string
  threadId: string
}

export async function cloudprimeRows(
  ledger: Ledger,
  workload: string,
  limit: number,
): Promise<CloudPrimeRow[]> {
  return (await ledger.recentMetrics({ workload, limit })).map(cloudPrimeRow)
}

export function cloudPrimeRow(row: MetricsRow): CloudPrimeRow {
  const tally = JSON.parse(row.tally) as Tally
  return {
    parameter: numberIn(row.parameters),
    basicBlocks: tally.blocks ?? 0,
    fieldLoads: tally.fieldLoads ?? 0,
    instructions: tally.instructions ?? 0,
    stackLoads: tally.stackLoads ?? 0,
    rank: row.work,
    running: row.running,
    instanceId: row.worker,
    threadId: row.attempt,
  }
}

/** All parameters, if the workload is not factorize. */
export function numberIn(parameters: string): string {
  try {
    const { n } = JSON.parse(parameters) as { n?: unknown }
    return n === undefined ? parameters : String(n)
  } catch {
    return parameters
  }
}
