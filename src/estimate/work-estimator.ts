/** A way to estimate work that replaces the learned models of a cluster: those of the published systems are such. */

import type { WarmRow } from '../ledger/ledger.ts'
import type { Snapshot } from '../ledger/snapshots.ts'
import type { Measure } from '../model/cost.ts'
import type { Measurement, Question, Rule } from './estimator.ts'

export interface WorkEstimator {
  /** A rule for the work of a workload. Called once for each workload and way of measuring. */
  rule(workload: string, measure: Measure): Rule
  /** Awaited before each estimate, for lookups that take time. Never rejects. */
  look?(question: Question): Promise<void>
  /** True before the stored rows of a workload are learned, false afterwards, also after a failure. */
  warming?(workload: string, isWarming: boolean): void
  /** Restores what this estimator saved; other snapshots are ignored. */
  restore?(snapshot: Snapshot): void
  /** All stored rows and snapshots of a workload have been learned. */
  warmed?(workload: string, rows: readonly WarmRow[]): void
  /** Stores the measurement of a function before the function answers. */
  store?(question: Question, measured: Measurement): Promise<void>
  /** Resolves when no model is being built. */
  settled?(): Promise<void>
  close?(): Promise<void>
}
