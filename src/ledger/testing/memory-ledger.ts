/**
 * A ledger in memory: the reference that the contract tests compare the SQLite ledger with, and a quick ledger for
 * tests of rooms that use one.
 */
import { LedgerError } from '../../lib/errors.ts'
import { type Collected, checkLimit, collect } from '../collect.ts'
import {
  defaultWarmLimit,
  type Ledger,
  type LedgerCounts,
  type LedgerRow,
  type RecentQuery,
  type WarmQuery,
  type WarmRow,
} from '../ledger.ts'
import {
  copyMetrics,
  isOwnedBy,
  type MetricsKey,
  type MetricsRow,
  mayWrite,
  type OwnerFilter,
  storedKey,
} from '../metrics.ts'
import { type RetentionLimits, retentionLimits } from '../retention.ts'
import { copyRow, maxClockAheadMs } from '../row.ts'
import { copySnapshot, keptSnapshots, readSnapshot, type Snapshot } from '../snapshots.ts'
import { MemoryRows } from './memory-rows.ts'

export interface MemoryLedgerOptions {
  /** Beyond this number, the row recorded first is dropped. */
  maxRows?: number
  retention?: Partial<RetentionLimits>
}

export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  return new MemoryLedger(options)
}

const keyOf = ({ workload, codeHash, parameters }: MetricsKey) =>
  JSON.stringify([workload, codeHash, parameters])

class MemoryLedger implements Ledger {
  readonly #maxRows: number
  readonly #rows: MemoryRows
  readonly #metrics = new Map<string, MetricsRow>()
  #snapshots: Snapshot[] = []
  #dropped = 0
  #skipped = 0
  #closed = false

  constructor({ maxRows = 100_000, retention }: MemoryLedgerOptions) {
    this.#maxRows = maxRows
    this.#rows = new MemoryRows({ ...retentionLimits, ...retention })
  }

  record(row: LedgerRow): void {
    if (this.#closed) return
    const copy = copyRow(row)
    if (typeof copy === 'string') {
      this.#dropped++
      return
    }
    this.#rows.add(copy, Date.now())
    if (this.#rows.size <= this.#maxRows) return
    this.#rows.dropFirst()
    this.#dropped++
  }

  recordMetrics(row: MetricsRow): void {
    if (this.#closed) return
    const copy = copyMetrics({ parameters: '', row })
    if (typeof copy === 'string') this.#dropped++
    else if ('row' in copy && mayWrite(this.#metrics.get(keyOf(copy.row)), copy.row)) {
      this.#metrics.set(keyOf(copy.row), copy.row)
      if (this.#metrics.size <= this.#maxRows) return
      const [oldest] = this.#metrics.keys()
      this.#metrics.delete(oldest!)
      this.#dropped++
    }
  }

  releaseMetrics(owner: OwnerFilter): void {
    if (this.#closed) return
    for (const row of this.#metrics.values()) {
      if (isOwnedBy(row, owner)) Object.assign(row, { worker: '', attempt: '' })
    }
  }

  async metricsFor(key: MetricsKey): Promise<MetricsRow | undefined> {
    this.#mustBeOpen()
    const row = this.#metrics.get(keyOf(storedKey(key)))
    return row && { ...row }
  }

  async recentMetrics({ workload, limit }: RecentQuery): Promise<MetricsRow[]> {
    this.#mustBeOpen()
    checkLimit(limit)
    const rows = [...this.#metrics.values()].filter((row) => row.workload === workload)
    // The sort is stable: of equal times the row created last comes first.
    return rows
      .reverse()
      .sort((a, b) => b.at - a.at)
      .slice(0, limit)
      .map((row) => ({ ...row }))
  }

  saveSnapshot(snapshot: Snapshot): void {
    if (this.#closed) return
    const entry = copySnapshot({ parameters: '', row: snapshot })
    if (typeof entry === 'string') {
      this.#dropped++
      return
    }
    const { workload, codeHash, name } = entry.row
    const others = this.#snapshots.filter((each) => each.workload !== workload)
    const same = this.#snapshots.filter(
      (each) => each.workload === workload && !(each.codeHash === codeHash && each.name === name),
    )
    this.#snapshots = [...others, ...keptSnapshots([...same, entry.row], Date.now() + maxClockAheadMs)]
  }

  async snapshots(workload: string): Promise<Snapshot[]> {
    this.#mustBeOpen()
    const all = this.#snapshots.filter((each) => each.workload === workload)
    const kept = keptSnapshots(all, Date.now() + maxClockAheadMs)
    return this.#validRows(collect(kept, kept.length, readSnapshot))
  }

  async flush(): Promise<void> {
    this.#mustBeOpen()
  }

  async recent(query: RecentQuery): Promise<LedgerRow[]> {
    this.#mustBeOpen()
    checkLimit(query.limit)
    return this.#validRows(this.#rows.recent(query, Date.now()))
  }

  async warm({ workload, limit = defaultWarmLimit }: WarmQuery): Promise<WarmRow[]> {
    this.#mustBeOpen()
    checkLimit(limit)
    return this.#validRows(this.#rows.warm({ workload, limit }, Date.now()))
  }

  async counts(): Promise<LedgerCounts> {
    this.#mustBeOpen()
    return { rows: this.#rows.size, dropped: this.#dropped, skipped: this.#skipped }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#rows.clear()
    this.#metrics.clear()
    this.#snapshots = []
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new LedgerError('the ledger is closed: open a new one')
  }

  #validRows<T>({ rows, skipped }: Collected<T>): T[] {
    this.#skipped += skipped
    return rows
  }
}
