/** CNV's table as a view of the ledger: one row for each request, by type and hash of parameters. */

import { createHash } from 'node:crypto'
import { canonical } from '../../estimate/canonical.ts'
import { readQuantities } from '../../estimate/quantities.ts'
import type { Ledger, LedgerRow } from '../../ledger/ledger.ts'

export interface CnvRow {
  /** A UUID. */
  id: string
  /** Partition key. */
  type: 'FRACTAL' | 'DNA' | 'GRAYSCOTT'
  /** The hash of the parameters: equal requests share one row. */
  sortKey: string
  parameters: Readonly<Record<string, unknown>>
  metrics: { instCount: number; totalAccesses: number }
  /** ISO 8601. */
  startTime: string
  endTime: string
}

export const types: Readonly<Record<string, CnvRow['type']>> = {
  julia: 'FRACTAL',
  dna: 'DNA',
  grayscott: 'GRAYSCOTT',
}

export async function cnvRows(ledger: Ledger, workload: string, limit: number): Promise<CnvRow[]> {
  return tableOf(await ledger.recent({ workload, limit }))
}

/** From rows newest first; of equal requests the newest counts. Rows of other workloads are left out. */
export function tableOf(rows: readonly LedgerRow[]): CnvRow[] {
  const table = new Map<string, CnvRow>()
  for (const row of rows) {
    const made = cnvRow(row)
    const key = made && `${made.type} ${made.sortKey}`
    if (made && key && !table.has(key)) table.set(key, made)
  }
  return [...table.values()]
}

export function cnvRow({ job, workload, parameters, quantities, ...row }: LedgerRow): CnvRow | undefined {
  const type = types[workload]
  const amounts = readQuantities(quantities)
  if (!type || row.outcome !== 'result' || !amounts) return undefined
  const asked = JSON.parse(parameters) as Record<string, unknown>
  return {
    id: uuidOf(job),
    type,
    sortKey: hashOf(canonical(asked)),
    parameters: asked,
    metrics: { instCount: amounts.instCount ?? 0, totalAccesses: amounts.totalAccesses ?? 0 },
    startTime: new Date(row.startedAt).toISOString(),
    endTime: new Date(row.endedAt).toISOString(),
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The same UUID for the same job: version 8, which leaves the bits to the application. */
function uuidOf(job: string): string {
  const hex = hashOf(job)
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
