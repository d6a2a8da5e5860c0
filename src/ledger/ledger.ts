/** The ledger stores measured work: one row per finished job. Estimators learn from it. */

import type { Measure } from '../model/cost.ts'
import type { Outcome } from '../model/job.ts'
import type { MetricsKey, MetricsRow, OwnerFilter } from './metrics.ts'
import type { Snapshot } from './snapshots.ts'

export interface LedgerRow {
  /** Identifies the row. Job ids are never reused, not even after a restart. */
  job: string
  workload: string
  /** Work is only comparable between jobs that ran the same code. */
  codeHash: string
  /** JSON text. If it is long, its hash and length are stored instead: see bounded-text.ts. */
  parameters: string
  work: number
  cpuMs: number
  wallMs: number
  peakMemoryMb: number
  worker: string
  attempts: number
  /** Milliseconds since 1970; so is `endedAt`. */
  startedAt: number
  endedAt: number
  outcome: Outcome
  /** The estimator's features as JSON text; '' if unknown. */
  features: string
  /** Identifies parameters and body: only equal requests have the same key. '' if unknown. */
  key: string
  /** How `work` was measured: by the meter, by the program's header, or as microseconds of CPU or wall time. */
  measure: Measure
  /** The summands of `work` by name, as JSON text; '' if unknown. */
  quantities: string
}

/** The fields that estimators learn from at start. */
export type WarmRow = Pick<
  LedgerRow,
  | 'codeHash'
  | 'key'
  | 'parameters'
  | 'features'
  | 'work'
  | 'cpuMs'
  | 'wallMs'
  | 'peakMemoryMb'
  | 'worker'
  | 'measure'
  | 'quantities'
>

export interface WarmQuery {
  workload: string
  /** Maximum number of rows: 1 to `maxQueryLimit`. Default 4,000. */
  limit?: number
}

export interface RecentQuery {
  workload: string
  /** If missing, rows of every version of the code are returned. */
  codeHash?: string
  /** If given, rows of equal requests only. Scans the rows that the other fields select. */
  key?: string
  /** Maximum number of rows: 1 to `maxQueryLimit`. */
  limit: number
}

export interface LedgerCounts {
  /** Stored rows. */
  rows: number
  /** Rows recorded since the ledger was opened and then dropped: malformed, or the buffer was full. */
  dropped: number
  /** Invalid rows and snapshots that queries skipped since the ledger was opened. */
  skipped: number
}

/** The caller that opens a ledger must close it; an open ledger may keep the process alive. */
export interface Ledger {
  /**
   * Copies the row and writes it later; never blocks or throws. Recording a job again replaces its row. A malformed
   * row (a missing field, an impossible number) is dropped. Does nothing after `close`. Rows that estimators no
   * longer need are deleted later: see retention.ts.
   */
  record(row: LedgerRow): void
  /**
   * Records metrics of a running or ended job in the row of its workload, code and parameters, if `mayWrite` permits.
   * Otherwise like `record`.
   */
  recordMetrics(row: MetricsRow): void
  /** Releases the running rows of an owner, so that others may write them. Otherwise like `record`. */
  releaseMetrics(owner: OwnerFilter): void
  /**
   * Saves what an estimator has learned, replacing the snapshot of the same workload, code and name. A snapshot that
   * is too long is dropped. Otherwise like `record`.
   */
  saveSnapshot(snapshot: Snapshot): void
  /** Newest first, for the newest versions of the code. May lag behind until `flush`. Rejects like `recent`. */
  snapshots(workload: string): Promise<Snapshot[]>
  /** Undefined if none were recorded. May lag behind until `flush`. Rejects like `recent`. */
  metricsFor(key: MetricsKey): Promise<MetricsRow | undefined>
  /**
   * Rows of running and ended requests, written last first. Scans all rows of the workload. Otherwise like `recent`.
   */
  recentMetrics(query: Pick<RecentQuery, 'workload' | 'limit'>): Promise<MetricsRow[]>
  /**
   * Resolves when every row recorded before the call is as durable as this kind of ledger can make it. Rejects with
   * LedgerError if one of them was dropped during the flush, if nothing could be written within the flush timeout
   * (the rows are kept and retried), or after `close`.
   */
  flush(): Promise<void>
  /**
   * Newest `endedAt` first; rows with equal `endedAt` in reverse order of recording. May lag behind `record` until
   * `flush`. Skips invalid rows.
   * Rejects with LedgerError if the ledger cannot be read, if the limit is out of range, and after `close`.
   */
  recent(query: RecentQuery): Promise<LedgerRow[]>
  /**
   * Oldest first: the newest results of the newest version of the code, filled up to the limit with results of the
   * versions before it. Otherwise like `recent`.
   */
  warm(query: WarmQuery): Promise<WarmRow[]>
  /** May lag behind `record` until `flush`. Rejects like `recent`. Scans all rows: not for hot paths. */
  counts(): Promise<LedgerCounts>
  /**
   * Flushes, then releases all resources. Idempotent; never rejects. Rows that cannot be written within the flush
   * timeout are lost and reported as an error.
   */
  close(): Promise<void>
}

export const maxQueryLimit = 100_000
export const defaultWarmLimit = 4_000
