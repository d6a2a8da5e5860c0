/** Scaling: how many workers? One file per policy. */

import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'
import type { EndingRule, Role } from '../../model/worker.ts'

/** What a scaling policy may look at. */
export interface FleetView {
  /** Workers by state. */
  ready: number
  booting: number
  draining: number
  /** Of the ready ones: fronts. The coordinator, which is one too, is no worker. */
  fronts: number
  /** Jobs that no worker has, and all that are here. */
  waiting: number
  jobs: number
  /** Cores of ready workers, those of them that run a job, and those that one more worker would have. */
  cores: number
  busyCores: number
  coresEach: number
  /** Since the start, each times how long: cores of ready workers, those of them that were busy, jobs present. */
  coreMs: number
  busyMs: number
  jobMs: number
  /** How long a worker takes to come up, for nine of ten; undefined: none has yet. */
  bootMs: number | undefined
  /** Each worker, in order of joining. Like the two below, for decisions on a timer. */
  workers(): WorkerFigures[]
  /** What the jobs that no worker has are predicted to need. */
  waitingWork(): number
  /** Adds up what jobs need. Looks at each of them: for decisions on a timer, not for each event. */
  present(): Present
}

/** One worker, as scaling policies that choose among them see it. */
export interface WorkerFigures {
  id: string
  /** Grows with every worker that joins. */
  number: number
  draining: boolean
  suspect: boolean
  /** The share of its cores that was busy between the last two looks; null: it has not been looked at twice. */
  cpu: number | null
  jobs: number
  /** What its jobs are still expected to need. */
  work: number
  /** When it was launched. */
  since: number
}

/** What the jobs that are here still need, in seconds of a core. */
export interface Present {
  seconds: number
  /** Of those that have no core now, on workers that go on; and how many they are. */
  waitingSeconds: number
  waitingJobs: number
  /** Of those on workers that drain. */
  drainingSeconds: number
  oldestWaitingMs: number
}

/** "No data" is `hold`, never zero. */
export type ScaleDecision =
  | { kind: 'hold'; reason: Reason }
  | { kind: 'scale'; to: number; reason: Reason }
  | ({ kind: 'steps' } & ScaleSteps)

/** For policies that say themselves whom they mean. */
export interface ScaleSteps {
  reason: Reason
  /** So many more. */
  launch?: { count: number; reason: Reason }
  /** These are given nothing more. */
  drain?: { worker: string; reason: Reason }[]
  /** These are ended now; what they have in hand is for others. */
  end?: { worker: string; reason: Reason }[]
  /** Jobs of these lanes that no worker was ever given, and that have waited for longer than so long, are dropped. */
  drop?: Readonly<Record<string, number>>
}

/** A job that has a result. */
export interface FinishedJob {
  /** How long it took on a core, and was expected to. */
  seconds: number
  expected: number
  /** From its arrival on. */
  hereMs: number
  /** Whether it missed its deadline; undefined: it had none. */
  late: boolean | undefined
}

/** What a policy of a cluster with tiers decides besides how many nodes there are. */
export interface Tiers {
  /** What a node that has just joined is for. */
  roleFor(view: FleetView): { role: Role; reason: Reason }
  /** When nodes ask to be ended. */
  readonly ending: Readonly<Record<Role, EndingRule>>
  /** A node asks to be ended. Undefined: it may be; else why not. */
  refuses(role: Role | 'coordinator', view: FleetView, now: number): Reason | undefined
}

export interface Scaler {
  readonly name: string
  /** How often to decide, besides every change of the fleet; 0: never else. */
  readonly everyMs: number
  decide(view: FleetView, now: number): ScaleDecision
  /** A job that is expected to take so long on a core has come. True: this cannot wait for the next time. */
  arrived?(seconds: number, now: number): boolean
  finished?(job: FinishedJob, now: number): void
  /** A worker is lost, or one that has a role goes without having asked; `decide` follows. Without a role: it has none. */
  lost?(worker: string, now: number, role?: Role): void
  /** Given: nodes have roles. */
  readonly tiers?: Tiers
  /** True: workers that drain and are empty are ended when it says so, and not at once. */
  readonly endsDrained?: boolean
  /** It goes by how busy workers' cores are, and wants to know so often; `limits.cpuEveryMs` has precedence. */
  readonly cpuEveryMs?: number
  /** What people may want to know of the policy, and of a worker under it, by name. */
  tells?(): Figures
  tellsOf?(worker: string): Figures
  save(): unknown
  load(saved: unknown): void
}
