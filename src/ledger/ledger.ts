/** The ledger remembers measured work: one row for each finished job, for those who learn what jobs cost. */
import type { Outcome } from '../model.ts'
import type { MetricsKey, MetricsRow, OwnerGone } from './metrics.ts'

export interface LedgerRow {
  /** Names the row: ids are never reused, across restarts neither. */
  job: string
  workload: string
  /** Work is comparable only between jobs of the same code. */
  codeHash: string
  /** JSON text, kept as it is given. */
  parameters: string
  work: number
  cpuMs: number
  wallMs: number
  peakMemoryMb: number
  worker: string
  attempts: number
  /** Milliseconds since 1970, as is `endedAt`. */
  startedAt: number
  endedAt: number
  outcome: Outcome
}

export interface RecentQuery {
  workload: string
  /** Without it, rows of every version of the code. */
  codeHash?: string
  /** At most this many rows: 1 to `maxRecent`. */
  limit: number
}

export interface LedgerCounts {
  /** Rows that can be read. */
  rows: number
  /** Rows given to this ledger since it was opened and not kept: malformed, or too many to hold. */
  dropped: number
}

/** Whoever opens a ledger closes it: until then it may keep the process alive. */
export interface Ledger {
  /**
   * Returns at once and never throws; the row is copied and written later. Recording a job again replaces its
   * row. A malformed row (text missing, a number that is not finite) is dropped. After `close` it does nothing.
   */
  record(row: LedgerRow): void
  /**
   * Metrics of a running or ended job, for the row of its workload, code and parameters; `mayWrite` says whether
   * they are written. Otherwise like `record`.
   */
  recordMetrics(row: MetricsRow): void
  /** What an owner was measuring may be taken over from now on. Otherwise like `record`. */
  metricsOwnerGone(owner: OwnerGone): void
  /** Undefined: none were recorded. May lag behind until `flush`. Rejects as `recent` does. */
  metricsFor(key: MetricsKey): Promise<MetricsRow | undefined>
  /**
   * Resolves when every row recorded before the call survives the end of this process and of the machine, as
   * far as this kind of ledger can keep that promise. Rejects with LedgerError if one of them had to be dropped
   * while waiting, if nothing can be written for a while (the rows are kept and tried again), or after `close`.
   */
  flush(): Promise<void>
  /**
   * Newest `endedAt` first; of equal ones, the one recorded last. May lag behind `record` until `flush`.
   * Rejects with LedgerError if it cannot be read, for a limit out of range, and after `close`.
   */
  recent(query: RecentQuery): Promise<LedgerRow[]>
  /** May lag behind `record` until `flush`. Rejects as `recent` does. Counts row by row: not for hot paths. */
  counts(): Promise<LedgerCounts>
  /**
   * Flushes, then lets go of everything. Idempotent, and never rejects: rows that could not be written in time
   * are lost, and reported as trouble.
   */
  close(): Promise<void>
}

export const maxRecent = 100_000
