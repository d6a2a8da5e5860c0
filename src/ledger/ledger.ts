/** The ledger remembers measured work: one row for each finished job, for those who learn what jobs cost. */

import type { Measure } from '../model/cost.ts'
import type { Outcome } from '../model/job.ts'
import type { MetricsKey, MetricsRow, OwnerGone } from './metrics.ts'
import type { Snapshot } from './snapshots.ts'

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
  /** JSON text of what the estimator looked at; '' if that is not known. */
  features: string
  /** The same for equal requests only: parameters and body. '' if that is not known. */
  key: string
  /** What `work` is: counted by the meter, named by the program in a header, or microseconds of CPU or other time. */
  measure: Measure
  /** JSON text of what `work` is the sum of, by name; '' if that is not known. */
  quantities: string
}

/** What estimators learn from at start. */
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
  /** At most this many rows: 1 to `maxRecent`. Default 4,000. */
  limit?: number
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
  /** Rows and snapshots that questions met since it was opened and passed over, because they cannot be true. */
  skipped: number
}

/** Whoever opens a ledger closes it: until then it may keep the process alive. */
export interface Ledger {
  /**
   * Returns at once and never throws; the row is copied and written later. Recording a job again replaces its
   * row. A malformed row (text missing, a number that cannot be true) is dropped. After `close` it does nothing.
   * Rows that estimators no longer need are forgotten in time: growth.ts says which.
   */
  record(row: LedgerRow): void
  /**
   * Metrics of a running or ended job, for the row of its workload, code and parameters; `mayWrite` says whether
   * they are written. Otherwise like `record`.
   */
  recordMetrics(row: MetricsRow): void
  /** What an owner was measuring may be taken over from now on. Otherwise like `record`. */
  metricsOwnerGone(owner: OwnerGone): void
  /**
   * What an estimator has learned, under its name; replaces what it saved before of the same code. Too long a
   * text is dropped. Otherwise like `record`.
   */
  saveSnapshot(snapshot: Snapshot): void
  /** Newest first, of the newest versions of the code. May lag behind until `flush`. Rejects as `recent` does. */
  snapshots(workload: string): Promise<Snapshot[]>
  /** Undefined: none were recorded. May lag behind until `flush`. Rejects as `recent` does. */
  metricsFor(key: MetricsKey): Promise<MetricsRow | undefined>
  /**
   * Resolves when every row recorded before the call survives the end of this process and of the machine, as
   * far as this kind of ledger can keep that promise. Rejects with LedgerError if one of them had to be dropped
   * while waiting, if nothing can be written for a while (the rows are kept and tried again), or after `close`.
   */
  flush(): Promise<void>
  /**
   * Newest `endedAt` first; of equal ones, the one recorded last. May lag behind `record` until `flush`. Rows
   * that cannot be true (however they came there) are passed over.
   * Rejects with LedgerError if it cannot be read, for a limit out of range, and after `close`.
   */
  recent(query: RecentQuery): Promise<LedgerRow[]>
  /**
   * Oldest first: the newest results of the newest version of the code, and if they are few, those of the
   * versions before it. Otherwise like `recent`.
   */
  warm(query: WarmQuery): Promise<WarmRow[]>
  /** May lag behind `record` until `flush`. Rejects as `recent` does. Counts row by row: not for hot paths. */
  counts(): Promise<LedgerCounts>
  /**
   * Flushes, then lets go of everything. Idempotent, and never rejects: rows that could not be written in time
   * are lost, and reported as trouble.
   */
  close(): Promise<void>
}

export const maxRecent = 100_000
export const usualWarm = 4_000
