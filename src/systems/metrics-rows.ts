import type { Ledger } from '../ledger/ledger.ts'
import type { MetricsRow } from '../ledger/metrics.ts'

/** The metrics of the newest answered requests, one row for each request. */
export async function metricsRows(ledger: Ledger, workload: string, limit: number): Promise<MetricsRow[]> {
  const rows = new Map<string, MetricsRow>()
  for (const { codeHash, key } of await ledger.recent({ workload, limit })) {
    const id = `${codeHash} ${key}`
    const row = rows.has(id) ? undefined : await ledger.metricsFor({ workload, codeHash, parameters: key })
    if (row) rows.set(id, row)
  }
  return [...rows.values()]
}
