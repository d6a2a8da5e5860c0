/** A ledger that forgets at the end of the process: what estimators can learn from, in memory. */
import { LedgerError } from '../lib/errors.ts'
import { type GrowthLimits, growthLimits } from './growth.ts'
import { type Ledger, type LedgerRow, usualWarm } from './ledger.ts'
import { MemoryRows } from './memory-rows.ts'
import { copyMetrics, isOwnedBy, type MetricsKey, type MetricsRow, mayWrite } from './metrics.ts'
import { checkLimit, type Found, gather } from './query.ts'
import { aheadMs, copyRow } from './row.ts'
import { copySnapshot, keptSnapshots, readSnapshot, type Snapshot } from './snapshots.ts'

export interface MemoryLedgerOptions {
  /** At most this many rows; then the one recorded first is dropped. */
  maxRows?: number
  growth?: Partial<GrowthLimits>
}

export function memoryLedger({ maxRows = 100_000, growth }: MemoryLedgerOptions = {}): Ledger {
  const rows = new MemoryRows({ ...growthLimits, ...growth })
  const metrics = new Map<string, MetricsRow>()
  let snapshots: Snapshot[] = []
  let dropped = 0
  let skipped = 0
  let closed = false

  function mustBeOpen(): void {
    if (closed) throw new LedgerError('the ledger is closed: open a new one')
  }

  function readable<T>(found: Found<T>): T[] {
    skipped += found.skipped
    return found.rows
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

    async metricsFor(key) {
      mustBeOpen()
      const row = metrics.get(keyOf(key))
      return row && { ...row }
    },

    saveSnapshot(snapshot): void {
      if (closed) return
      const entry = copySnapshot({ parameters: '', row: snapshot })
      if (typeof entry === 'string') {
        dropped++
        return
      }
      const { workload, codeHash, name } = entry.row
      const others = snapshots.filter((each) => each.workload !== workload)
      const own = snapshots.filter(
        (each) => each.workload === workload && !(each.codeHash === codeHash && each.name === name),
      )
      snapshots = [...others, ...keptSnapshots([...own, entry.row], Date.now() + aheadMs)]
    },

    async snapshots(workload) {
      mustBeOpen()
      const own = snapshots.filter((each) => each.workload === workload)
      return readable(gather(keptSnapshots(own, Date.now() + aheadMs), own.length, readSnapshot))
    },

    record(row: LedgerRow): void {
      if (closed) return
      const copy = copyRow(row)
      if (typeof copy === 'string') {
        dropped++
        return
      }
      rows.add(copy, Date.now())
      if (rows.size <= maxRows) return
      rows.dropFirst()
      dropped++
    },

    async flush() {
      mustBeOpen()
    },

    async recent(query) {
      mustBeOpen()
      checkLimit(query.limit)
      return readable(rows.recent(query, Date.now()))
    },

    async warm({ workload, limit = usualWarm }) {
      mustBeOpen()
      checkLimit(limit)
      return readable(rows.warm({ workload, limit }, Date.now()))
    },

    async counts() {
      mustBeOpen()
      return { rows: rows.size, dropped, skipped }
    },

    async close() {
      closed = true
      rows.clear()
      metrics.clear()
      snapshots = []
    },
  }
}
