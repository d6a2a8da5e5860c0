/** The row of CloudPrime's metrics table, as a view of the ledger's; who may write it is the ledger's rule (ledger/metrics.ts). */

import type { MetricsRow } from '../../ledger/metrics.ts'
import type { Tally } from '../../model/metrics.ts'

export interface CloudPrimeRow {
  /** The number that was asked for. */
  parameter: string
  basicBlocks: number
  fieldLoads: number
  instructions: number
  stackLoads: number
  rank: number
  /** True: of a request that was not done yet. */
  running: boolean
  /** Who measures, or measured; both are '' when that one is gone and the request was not done. */
  instanceId: string
  threadId: string
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

/** Of other workloads than factorize: all parameters. */
function numberIn(parameters: string): string {
  try {
    const { n } = JSON.parse(parameters) as { n?: unknown }
    return n === undefined ? parameters : String(n)
  } catch {
    return parameters
  }
}
