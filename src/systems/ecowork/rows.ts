/** EcoWork's rows: a table for each workload, with the two ends of what was seen of each key, and the slope, its `Metric`. */

import type { Ledger } from '../../ledger/ledger.ts'
import { slopesName } from './slope-store.ts'
import type { SlopeRow } from './slope-table.ts'

/** Of the newest code, as it was stored last. */
export async function ecoMetrics(ledger: Ledger, workload: string): Promise<SlopeRow[]> {
  const stored = (await ledger.snapshots(workload)).find(({ name }) => name === slopesName)
  return stored ? (JSON.parse(stored.json) as SlopeRow[]) : []
}
