/** EcoWork's tables, one for each workload: by key the smallest and largest size seen, and the slope, its `Metric`. */

import type { Ledger } from '../../ledger/ledger.ts'
import { slopesName } from './slope-store.ts'
import type { SlopeRow } from './slope-table.ts'

/** Rows of the newest code, as stored last. */
export async function ecoworkRows(ledger: Ledger, workload: string, limit = Infinity): Promise<SlopeRow[]> {
  const stored = (await ledger.snapshots(workload)).find(({ name }) => name === slopesName)
  return stored ? (JSON.parse(stored.json) as SlopeRow[]).slice(0, limit) : []
}
