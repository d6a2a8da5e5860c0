/** What a live cluster is to be, and what it tells of itself. */

import type { RestartStep, RestartWhat } from '../admin/restart.ts'
import type { BrainLimits } from '../brain/core.ts'
import type { OverflowOptions } from '../brain/functions/overflow-spec.ts'
import type { RateLimit } from '../brain/jobs/rate-limit.ts'
import type { Scaler } from '../brain/scale/scaler.ts'
import type { PlacingSpec } from '../brain/schedule/scheduler.ts'
import type { OwnCluster } from '../config/check.ts'
import type { Estimator } from '../estimate/estimator.ts'
import type { RepeatCounters } from '../front/cache/repeated-answers.ts'
import type { FunctionLimits, Functions } from '../front/transports/function.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Following, MeterSetting } from '../model/metering.ts'
import type { BrainView, WorkerView } from '../model/view.ts'
import type { ToldStep } from '../story/fleet-story.ts'
import type { Money, Prices } from '../story/money.ts'
import type { EstimatorSpec } from '../systems/estimators.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import type { FrontLimits, RepeatOptions } from '../wire/front-settings.ts'
import type { FrontState } from './fronts/joined-fronts.ts'

export interface ClusterOptions extends Following, RepeatOptions {
  /** Modules of workloads; none for an own server. */
  files: string[]
  /** The user's own HTTP server in place of workloads, and the file that describes it, for workers. */
  own?: OwnCluster
  config?: string
  /** Where the ledger, and what workloads keep, lie. */
  dataDir: string
  host: string
  /** 0: any free port. */
  port: number
  adminPort: number
  min: number
  max: number
  /** How the number of workers between them is found. Default: it stays as it is. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
  /** In place of the one that `scale` describes, which the event log then does not tell. */
  scaler?: Scaler
  scheduler: SchedulerName
  /** Constants of the scheduler. Default: its own. */
  placing?: PlacingSpec
  discipline: DisciplineName
  /** Other constants of the brain than its own. */
  limits?: Partial<BrainLimits>
  /** How work is counted. Default: as one number. */
  meter?: MeterSetting
  /** Bound for one job. */
  jobMemoryMb: number
  /** Most jobs that a worker holds. */
  slots: number
  /** Most jobs that wait. */
  queue: number
  /** What tells clients apart: `address`, `key` or `header:NAME`. Default: address. */
  clientBy?: string
  /** What each client may ask for. Default: anything. */
  rateLimit?: RateLimit
  /** True: who has had more than its share of the work goes after the others. */
  fair?: boolean
  /** The command that starts a worker, before its own options. */
  workerCommand: string[]
  /** Fronts in processes of their own on the same port, besides the one in this process; and what starts one. */
  fronts?: { count: number; command: string[] }
  /** A front whose connection broke is given so long to come back before its jobs are given up. Default 5,000. */
  frontGraceMs?: number
  token?: string
  eventLog?: string
  estimator?: Estimator
  /** How work is estimated in place of what is learned. */
  ruled?: EstimatorSpec
  /** What a worker costs an hour, in whatever money: quotes then name a price. */
  pricePerHour?: number
  /** Further prices, in the same money. */
  prices?: Partial<Omit<Prices, 'workerHour'>>
  /** Functions that take jobs which would wait, where that pays. Default: none. */
  functions?: FunctionsOptions
  /** Workloads that are not metered in functions: what they cost there is not learned from. */
  unmeteredAway?: readonly string[]
  frontLimits?: Partial<FrontLimits>
  /** True: what the brain decides is logged in `components.log` in the data folder, each line by its component. */
  componentLog?: boolean
  log(line: string): void
}

export interface FunctionsOptions extends Partial<FunctionLimits> {
  /** Most jobs that are away at a time; `concurrency`, which turns more away, is as much by default. */
  most: number
  /** What starts one, before its own options. */
  command: string[]
  /** What an hour of a job's waiting is worth. */
  waitingPerHour?: number
  /** One of which nothing is heard for so long, and ten times as long as it should take, is given up. */
  patienceMs?: number
  /** What else the brain is told of them. */
  brain?: Partial<OverflowOptions>
}

export interface Cluster {
  url: string
  adminUrl: string
  token: string
  /** By name; of an own server, its routes. */
  workloads: string[]
  state(): ClusterState
  ledger: Ledger
  /** Resolves when a worker is ready to take jobs, and all fronts of this machine listen. */
  ready: Promise<void>
  /** Replaces fronts and workers that this cluster started, one after another and without an error for any client. */
  restart(what: RestartWhat): AsyncGenerator<RestartStep>
  /** No new requests; running ones are finished, or after `limitMs` refused; then everything ends. Idempotent. */
  stop(limitMs: number): Promise<void>
}

export interface ClusterState extends BrainView {
  policy: string
  discipline: string
  uptimeMs: number
  launchTroubles: string[]
  /** How the fleet grew and shrank, and why: the last 200 steps. */
  steps: ToldStep[]
  /** What was spent since the start. */
  money: Money
  /** Functions that are there, at work or warm. */
  functions: ReturnType<Functions['list']>
  /** Where answers are given again, or shared. */
  cache?: RepeatCounters
  /** That of this process first. */
  fronts: FrontState[]
  /** With their processes, on their machines. */
  workers: (WorkerView & { pid: number | undefined })[]
}
