/** A ledger that forgets at the end of the process: the newest rows, in memory. */
import { LedgerError } from '../errors.ts'
import type { Ledger, LedgerCounts, LedgerRow, RecentQuery } from './ledger.ts'
import { copyMetrics, isOwnedBy, type MetricsKey, type MetricsRow, mayWrite } from './metrics.ts'
import { checkQuery, copyRow } from './row.ts'

export interface MemoryLedgerOptions {
  /** At most this many rows; then the one recorded first is dropped. */
  maxRows?: number
}

export function memoryLedger({ maxRows = 100_000 }: MemoryLedgerOptions = {}): Ledger {
  /** In order of recording. */
  const rows = new Map<string, LedgerRow>()
  const metrics = new Map<string, MetricsRow>()
  let dropped = 0
  let closed = false

  function mustBeOpen(): void {
    if (closed) throw new LedgerError('the ledger is closed: open a new one')
  }

  const keyOf = ({ workload, codeHash, parameters }: MetricsKey) =>
    JSON.stringify([workload, codeHash, parameters])

  return {
    recordMetrics(row: MetricsRow): void {
      if (closed) return
      const copy = copyMetrics({ parameters: '', row })
      if (typeof copy === 'string') dropped++
      else if ('row' in copy && mayWrite(metrics.get(keyOf(copy.row)), copy.row)) {
        metrics.set(keyOf(copy.row), copy.row)
        if (metrics.size > maxRows) {
          const [oldest] = metrics.keys()
          metrics.delete(oldest!)
          dropped++
        }
      }
    },

    metricsOwnerGone(owner): void {
      if (closed) return
      for (const row of metrics.values()) {
        if (isOwnedBy(row, owner)) Object.assign(row, { worker: '', attempt: '' })
      }
    },

    async metricsFor(key): Promise<MetricsRow | undefined> {
      mustBeOpen()
      const row = metrics.get(keyOf(key))
      return row && { ...row }
    },

    record(row: LedgerRow): void {
      if (closed) return
      const copy = copyRow(row)
      if (typeof copy === 'string') {
        dropped++
        return
      }
      rows.delete(copy.job)
      rows.set(copy.job, copy)
      if (rows.size <= maxRows) return
      const [oldest] = rows.keys()
      rows.delete(oldest!)
      dropped++
    },

    async flush(): Promise<void> {
      mustBeOpen()
    },

    async recent(query: RecentQuery): Promise<LedgerRow[]> {
      mustBeOpen()
      checkQuery(query)
      const { workload, codeHash, limit } = query
      return [...rows.values()]
        .filter((row) => row.workload === workload && (codeHash === undefined || row.codeHash === codeHash))
        .reverse()
        .sort((a, b) => b.endedAt - a.endedAt)
        .slice(0, limit)
        .map((row) => ({ ...row }))
    },

    async counts(): Promise<LedgerCounts> {
      mustBeOpen()
      return { rows: rows.size, dropped }
    },

    async close(): Promise<void> {
      closed = true
      rows.clear()
      metrics.clear()
    },
  }
}
