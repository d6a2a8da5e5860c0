/** Scaling: how many workers? One file per policy. */

import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'
import type { Billing } from './billing.ts'

/** Options that all policies share. Each policy extends them with its own, and checks those itself. */
export interface ScaleOptions {
  /** Minimum and maximum number of workers. */
  min: number
  max: number
  /** Worker boot time, until launches have shown it. */
  bootMs?: number
  billing?: Billing
}

/** What a scaling policy may look at. */
export interface FleetView {
  /** Workers by state. A worker that is ejected for longer than a replacement takes to boot does not count as ready. */
  ready: number
  booting: number
  draining: number
  /** Ready workers in a role, for policies that assign roles. */
  inRole(role: string): number
  /** Jobs in the queue, and all jobs of the cluster. */
  waiting: number
  jobs: number
  /** Cores of ready workers, how many of them run a job, and the cores of one more worker. */
  cores: number
  busyCores: number
  coresEach: number
  /** Integrals over time since the start: cores of ready workers, busy cores, jobs in the cluster. */
  coreMs: number
  busyMs: number
  jobMs: number
  /** The 90th percentile of boot times; undefined: no worker has booted yet. */
  bootMs: number | undefined
  /** Each worker, in order of joining. This and the two below walk all workers or jobs: for decisions on a timer only. */
  workers(): WorkerFigures[]
  /** The predicted work of all jobs in the queue. */
  waitingWork(): number
  /** Sums over all jobs of the cluster. */
  present(): Present
}

/** One worker, as seen by policies that choose among workers. */
export interface WorkerFigures {
  id: string
  /** Grows with every worker that joins. */
  number: number
  draining: boolean
  suspect: boolean
  /** The share of its cores that was busy between the last two polls; null: polled less than twice. */
  cpu: number | null
  jobs: number
  /** The work that its jobs are still expected to need. */
  work: number
  /** When it was launched. */
  since: number
}

/** What the jobs of the cluster still need, in seconds of a core. */
export interface Present {
  seconds: number
  /** Of jobs without a core, on workers that are not draining; and the number of these jobs. */
  waitingSeconds: number
  waitingJobs: number
  /** Of jobs on draining workers. */
  drainingSeconds: number
  oldestWaitingMs: number
}

/** "No data" is `hold`, never zero. */
export type ScaleDecision =
  | { kind: 'hold'; reason: Reason }
  | { kind: 'scale'; to: number; reason: Reason }
  | ({ kind: 'steps' } & ScaleSteps)

/** For policies that choose the workers themselves. */
export interface ScaleSteps {
  reason: Reason
  /** Launches this many more workers. */
  launch?: { count: number; reason: Reason }
  /** These workers get no more jobs. */
  drain?: { worker: string; reason: Reason }[]
  /** These workers end now; their jobs are retried elsewhere. */
  end?: { worker: string; reason: Reason }[]
  /** Queue timeouts in ms by lane, applied now. A job that a worker has been given before is never dropped. */
  drop?: Readonly<Record<string, number>>
}

/** A job that has a result. */
export interface FinishedJob {
  /** Seconds of a core that it took, and was expected to take. */
  seconds: number
  expected: number
  /** Nothing had confirmed such estimates when it arrived. */
  unproven: boolean
  /** Time since its arrival. */
  hereMs: number
  /** Whether it missed its deadline; undefined: it had none. */
  late: boolean | undefined
}

/** For policies that give workers different roles; see workers/roles.ts. */
export interface Roles {
  /** The role of a worker that has just joined; the view does not count that worker yet. */
  assign(view: FleetView): AssignedRole
  /** What a worker in this role is told. JSON. */
  settingsOf(role: string): unknown
  /** A worker asks to leave. Undefined: the request is ignored, as one of an unknown worker is. */
  mayLeave(request: LeaveRequest, view: FleetView, now: number): LeaveVerdict | undefined
}

export interface AssignedRole {
  role: string
  /** False: the worker is never given jobs. */
  takesJobs: boolean
  reason: Reason
}

export interface LeaveRequest {
  worker: string
  /** Undefined: no worker of that name has a role. */
  role: string | undefined
  /** As the worker put it, unchecked. */
  why: string
  ms: number
}

export interface LeaveVerdict {
  granted: boolean
  reason: Reason
}

export interface Scaler {
  readonly name: string
  /** The interval between decisions; 0: only changes of the fleet cause decisions. */
  readonly everyMs: number
  decide(view: FleetView, now: number): ScaleDecision
  /**
   * A job that is expected to take this long on a core has arrived. True: decide now, not at the next interval. `unproven`:
   * nothing has confirmed such estimates yet.
   */
  arrived?(seconds: number, now: number, unproven: boolean): boolean
  finished?(job: FinishedJob, now: number): void
  /** A worker is lost, or one in a role leaves without having asked. `decide` follows. */
  lost?(worker: string, now: number, role?: string): void
  /** Defined: workers have roles. */
  readonly roles?: Roles
  /** True: the policy itself ends draining workers that are empty. */
  readonly endsDrained?: boolean
  /** How often the policy needs CPU readings; `limits.cpuEveryMs` takes precedence. */
  readonly cpuEveryMs?: number
  /** Figures of the policy, and of a worker under it, for people. */
  figures?(): Figures
  figuresOf?(worker: string): Figures
}
