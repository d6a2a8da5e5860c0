/** Options and handle of a cluster inside a program or a test. */

import type { PlimsollConfig } from '../config/config.ts'
import type { ClusterState as StateDocument } from '../live/state-document.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import type { EstimatorFactory } from './policies/own-estimator.ts'
import type { ScalerFactory } from './policies/own-scaler.ts'
import type { SchedulerFactory } from './policies/scheduler.ts'

/**
 * The options of the configuration file with other defaults: ports are free ones, and the data folder is a temporary one
 * that is removed when the cluster closes. Relative paths start at the current folder.
 */
export interface CreateClusterOptions extends Omit<PlimsollConfig, 'workloads' | 'scale'> {
  /** Files or folders with workloads: paths or `file:` URLs, such as `import.meta.resolve('./workloads/sum.ts')`. */
  workloads?: string | URL | readonly (string | URL)[]
  /** A scaling policy by name. */
  scale?: PlimsollConfig['scale']
  /** A scheduling policy, by name or of one's own, in place of the preset's. */
  scheduler?: SchedulerName | SchedulerFactory
  /** Which jobs of a worker run now: all (`sharing`), the oldest (`fifo`) or the shortest (`srpt`). Default: as the scheduler expects. */
  discipline?: DisciplineName
  /** A scaling policy of one's own, in place of `scale`. */
  scaler?: ScalerFactory
  /** An estimator of one's own, in place of the learned models. */
  estimator?: EstimatorFactory
  /** Time allowed for the first worker to become ready. Default 60,000. */
  readyWithinMs?: number
  /** Aborts the start. A cluster that has started is closed with `close`. */
  signal?: AbortSignal
  /** Receives log lines. Default: they are dropped. */
  log?(line: string): void
}

/** What `/api/state` shows. */
export type ClusterState = Omit<StateDocument, 'idleBeside' | 'leftBehind'>

/** A running cluster. */
export interface RunningCluster extends AsyncDisposable {
  /** Where requests go, without a slash at the end. */
  readonly url: string
  readonly adminUrl: string
  /** Where workers and fronts of other machines join. Undefined: nowhere. */
  readonly joinUrl: string | undefined
  /** The secrets of its roles: workers, fronts and operators. */
  readonly tokens: Readonly<Record<'worker' | 'front' | 'operator', string>>
  /** Names of workloads, or of routes. */
  readonly workloads: readonly string[]
  state(): ClusterState
  /**
   * Rejects new requests, gives running ones `stopAfter` seconds, then ends all processes and closes all ports. Resolves
   * when nothing is left. Idempotent.
   */
  close(): Promise<void>
}
