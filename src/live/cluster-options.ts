/** The options of a live cluster, and its handle. */

import type { RestartStep, RestartWhat } from '../admin/restart.ts'
import type { Ec2Settings } from '../aws/ec2/settings.ts'
import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { RateLimit } from '../brain/jobs/rate-limit.ts'
import type { BrainLimits } from '../brain/limits.ts'
import type { Scaler } from '../brain/scale/scaler.ts'
import type { PlacingSpec, SchedulerFactory } from '../brain/schedule/scheduler.ts'
import type { OwnCluster } from '../config/check.ts'
import type { Estimator } from '../estimate/estimator.ts'
import type { ResourceReader } from '../front/overload/readings.ts'
import type { FunctionLimits, FunctionProvider } from '../front/transports/function.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Following, MeterSetting } from '../model/metering.ts'
import type { Prices } from '../model/prices.ts'
import type { EstimatorSpec } from '../systems/estimators.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { FrontLimits, RepeatOptions, TlsFiles } from '../wire/front-settings.ts'
import type { Tokens } from '../wire/token.ts'
import type { KeepOptions } from './keeper/keep-options.ts'
import type { ClusterState } from './state-document.ts'
import type { SupervisorLink } from './supervise/supervisor-link.ts'
import type { Sources } from './version.ts'

export type { ClusterState }

export interface ClusterOptions extends Following, RepeatOptions {
  /** Modules of workloads; none for an existing server. */
  files: string[]
  /** An existing server in place of workloads, and its configuration file, for workers. */
  own?: OwnCluster
  config?: string
  /** Reads again what is to be served, for a restart with new code. Default: the same files and configuration. */
  sources?(): Promise<Sources>
  /** The folder of the ledger and of the workloads' data. */
  dataDir: string
  host: string
  /** 0: any free port. */
  port: number
  adminPort: number
  /** Default 127.0.0.1. On other addresses than loopback, all requests of operators need their token. */
  adminHost?: string
  /** Further names by which operators reach the admin port. */
  adminNames?: readonly string[]
  /** TLS on the admin port, for programs of other machines. Default: none. */
  adminTls?: TlsFiles
  /** Where workers and fronts of other machines join, over TLS. Default: nowhere. */
  joinAddress?: { host: string; port: number }
  min: number
  max: number
  /** How the fleet scales between `min` and `max`. Default: it does not. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
  /** Replaces the scaler that `scale` describes; event logs do not record it. */
  scaler?: Scaler
  /** A built-in policy, or the name of `ownScheduler`. */
  scheduler: string
  /** Replaces the built-in policy; event logs do not record it. */
  ownScheduler?: SchedulerFactory
  /** Constants of the scheduler. */
  placing?: PlacingSpec
  discipline: DisciplineName
  /** Constants of the brain. */
  limits?: Partial<BrainLimits>
  /** How work is metered. Default: as one number. */
  meter?: MeterSetting
  /** Memory limit of one job. */
  jobMemoryMb: number
  /** Niceness of the processes that run jobs. Default 0. */
  niceness?: number
  /** Time limit of one job; 0: none. Default: one hour. */
  jobLimitMs?: number
  /** Environment variables that workloads and programs may see, besides the usual ones. `NAME*`: all that begin so. */
  passEnv?: readonly string[]
  /** Maximum number of jobs on one worker. */
  slots: number
  /** Maximum queue length; further requests are rejected. */
  queue: number
  /** What identifies a client: `address`, `key` or `header:NAME`. Default: address. */
  clientBy?: string
  /** Limit on the work of each client. Default: none. */
  rateLimit?: RateLimit
  /** True: jobs of clients that exceed their share run after those of others. */
  fair?: boolean
  /** How requests are kept that are to be accepted before they are answered. */
  keep?: KeepOptions
  /** Fronts send requests that take less to workers without asking the brain. Default 0: none. */
  directBelowMs?: number
  /** Workers run on EC2 instances. Default: on this machine. */
  ec2?: Ec2Options
  /** The command that starts a worker, without options. */
  workerCommand: string[]
  /** Further front processes on the same port, and the command that starts one. With a supervisor: all of them. */
  fronts?: { count: number; command: string[] }
  /** The process that holds the public port and runs the fronts. Default: this process accepts requests. */
  supervisor?: SupervisorLink
  /** How long a front that was replaced may take to finish its requests. Default: 12 hours. */
  drainMs?: number
  /** Reconnect grace period of fronts: after it their jobs are cancelled. Default 5,000. */
  frontGraceMs?: number
  /** When the cluster stops, a worker that has not ended after this time is killed. Default 2,000. */
  workerGraceMs?: number
  /** In place of the tokens in the data folder. */
  tokens?: Partial<Tokens>
  eventLog?: string
  estimator?: Estimator
  /** Estimates by a published system's rule in place of the learned model. */
  ruled?: EstimatorSpec
  /** Price of a worker per hour, in any currency. Quotes then include a price. */
  pricePerHour?: number
  /** Further prices, in the same currency. */
  prices?: Partial<Omit<Prices, 'workerHour'>>
  /** Functions to which jobs overflow when that is faster and worth its price. Default: none. */
  functions?: FunctionsOptions
  /** Workloads that are not metered in functions; their costs there are not learned. */
  unmeteredAway?: readonly string[]
  frontLimits?: Partial<FrontLimits>
  /** Reads the load of the main process. Default: its real memory, descriptors, delays and queue. */
  overload?: ResourceReader
  /** The brain's decisions are logged by component, in files of the data folder whose names begin so. */
  componentLog?: string
  log(line: string): void
}

export interface Ec2Options extends Omit<Ec2Settings, 'workerArgs'> {
  /** Options of a worker that say what it serves. */
  code: readonly string[]
  /** True: the CPU figures of workers come from CloudWatch. */
  cpu: boolean
}

export interface FunctionsOptions extends Partial<FunctionLimits> {
  /** Maximum number of jobs in functions at a time; also the default of `concurrency`, beyond which they throttle. */
  most: number
  /** The command that starts one, without options. */
  command: string[]
  /** Functions elsewhere. Default: processes of this machine. */
  provider?: FunctionProvider
  /** Price of an hour of a job's waiting time. */
  waitingPerHour?: number
  /** An attempt without an answer for this long, and for ten times its expected time, fails. */
  patienceMs?: number
  /** Further settings of the brain's overflow rule. */
  brain?: Partial<OverflowOptions>
}

export interface Cluster {
  url: string
  adminUrl: string
  /** Where workers and fronts of other machines join. Undefined: nowhere. */
  joinUrl: string | undefined
  tokens: Tokens
  /** Names of workloads, or of routes. */
  workloads: string[]
  state(): ClusterState
  ledger: Ledger
  /** Resolves when the first worker can run jobs (at once with `min` = 0) and all fronts of this machine listen. */
  ready: Promise<void>
  /** The user's own files and folders of the version that is served: their change may make another version. */
  watched(): readonly string[]
  /**
   * Replaces the fronts and workers that this cluster started, one at a time, without an error for any client. If both are
   * replaced and the code has changed, with the new code; rejects before anything changes if that does not load.
   */
  restart(what: RestartWhat): AsyncGenerator<RestartStep>
  /** Refuses new requests, waits up to `limitMs` for running jobs, then closes everything. Idempotent. */
  stop(limitMs: number): Promise<void>
}
