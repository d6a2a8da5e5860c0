/** The brain's state, and the hooks through which operations tell the concerns what happens. */

import { type Entry, Heap } from '../lib/heap.ts'
import type { Action } from '../model/action.ts'
import type { FailureKind, HeldAttempt } from '../model/attempt.ts'
import type { Discipline } from '../model/discipline.ts'
import type { Reason } from '../model/reason.ts'
import type { Counters } from '../model/view.ts'
import type { Overflow } from './functions/overflow-state.ts'
import type { Shares } from './jobs/client-shares.ts'
import { Queue } from './jobs/queue.ts'
import type { RateLimits } from './jobs/rate-limit.ts'
import { RecentWork } from './jobs/recent-work.ts'
import { type BacklogWork, ExpectedReturns } from './jobs/retry-after.ts'
import type { Retries } from './jobs/retry-budget.ts'
import type { BrainLimits } from './limits.ts'
import { OwnPauses } from './own-pauses.ts'
import type { Billing } from './scale/billing.ts'
import type { Scaler } from './scale/scaler.ts'
import type { Scheduler, Verdict } from './schedule/scheduler.ts'
import type { Stall } from './stall.ts'
import type { Attempt, JobRecord, LaunchRecord, WorkerRecord } from './state.ts'
import type { JobTimerKind, Timer, TimerKind } from './timer.ts'
import { Boots } from './workers/boots.ts'
import { type Listing, newListing } from './workers/listing.ts'
import { Occupancy } from './workers/occupancy.ts'

export interface Recovery {
  isOver: boolean
  /** Ends it. */
  timer: Entry<Timer> | undefined
  /** Workers that have not joined, but run attempts of an earlier brain that fronts have claimed. */
  readonly absent: Map<string, WorkerRecord>
}

/**
 * One concern of the brain, such as deadlines or heartbeats. Operations (place, retry, drain, …) never import concerns:
 * they call the hooks below, in the order of the list in concerns.ts. Every hook is optional.
 */
export interface Concern {
  readonly name: string
  /** False: this brain's configuration never needs the concern, so its hooks are left out. */
  isActive?(core: Core): boolean
  /** The brain starts. */
  begins?(core: Core): void
  /** A job arrives. The first concern that refuses it ends the round. `pressure`: to shed jobs, from 0 (none) to 1. */
  arrives?(core: Core, record: JobRecord, pressure: number): Admission | undefined
  /** The job has been put into the queue. */
  queued?(core: Core, record: JobRecord, verdict: Verdict): void
  /** The attempt has been assigned to its worker or function, which is about to be told. */
  started?(core: Core, attempt: Attempt): void
  /** More work of the attempt is known to be done. */
  progressed?(core: Core, attempt: Attempt): void
  /** Its worker has reported that it holds the attempt. What it has done and whether it waits has been noted. */
  held?(core: Core, attempt: Attempt, reported: HeldAttempt): void
  /** The attempt has a result; it is about to end. */
  finished?(core: Core, attempt: Attempt, work: number): void
  /** The attempt has failed, be it with an error of its workload; it is about to end. */
  failed?(core: Core, attempt: Attempt, kind: FailureKind, blameless?: true): void
  /** The attempt ends, for whatever reason. `work`: what it did, if that was measured. */
  ended?(core: Core, attempt: Attempt, work: number | undefined): void
  /** The job's attempt has failed, and another follows. */
  retries?(core: Core, record: JobRecord): void
  /** The job is over. It may have been refused by an earlier concern when it arrived. */
  over?(core: Core, record: JobRecord): void
  joined?(core: Core, worker: WorkerRecord): void
  /** The worker has reported, or joined again. `cpuMs`: CPU time that it used or waited for so far. */
  reported?(core: Core, worker: WorkerRecord, cpuMs: number | undefined): void
  /** The event has been handled. */
  afterEvent?(core: Core): void
  /** What happens when a timer fires. Timers of jobs fire only while their job exists. */
  readonly jobTimers?: Partial<Record<JobTimerKind, (core: Core, record: JobRecord) => void>>
  readonly timers?: Partial<Record<Exclude<TimerKind, JobTimerKind>, (core: Core, id: string) => void>>
}

/** What a concern says of a job that arrives: it is refused, or goes to a function at once. */
export type Admission = { refused: Reason } | { overflow: Reason }

const hookNames = [
  'begins',
  'arrives',
  'queued',
  'started',
  'progressed',
  'held',
  'finished',
  'failed',
  'ended',
  'retries',
  'over',
  'joined',
  'reported',
  'afterEvent',
] as const satisfies readonly (keyof Concern)[]
type HookName = (typeof hookNames)[number]

/** Of each hook, the functions of all active concerns, in order; and what each timer does. */
export type Hooks = { readonly [Name in HookName]: readonly NonNullable<Concern[Name]>[] } & {
  readonly timers: Readonly<Record<string, (core: Core, id: string) => void>>
}

export interface Core {
  /** Of the tokens of attempts that begin. */
  epoch: number
  readonly limits: BrainLimits
  readonly scheduler: Scheduler
  readonly scaler: Scaler
  readonly billing: Billing
  /** Maximum number of workers. */
  readonly mostWorkers: number
  readonly discipline: Discipline
  /** Undefined: clients may ask for any amount of work. */
  readonly rateLimits: RateLimits | undefined
  readonly shares: Shares
  /** Undefined: the cluster has no functions. */
  readonly overflow: Overflow | undefined
  /** Undefined: jobs are retried at once. */
  readonly retries: Retries | undefined
  hooks: Hooks
  readonly jobs: Map<string, JobRecord>
  readonly workers: Map<string, WorkerRecord>
  readonly launches: Map<string, LaunchRecord>
  readonly queue: Queue
  readonly recentWork: RecentWork
  /** Of all jobs, when it was last added up. */
  readonly backlog: BacklogWork
  /** Requests that a full queue has rejected. */
  readonly returns: ExpectedReturns
  readonly timers: Heap<Timer>
  readonly counters: Counters
  /** Workers in state ready, and how many of them have a role that takes no jobs. */
  ready: number
  withoutSlots: number
  /** Jobs by the front that they came in through, for clusters with tiers. */
  readonly through: Map<string, number>
  readonly draining: Set<WorkerRecord>
  /** Workers where requests that fronts sent without asking may be in progress. */
  readonly held: Set<string>
  /** Ready workers that are ejected, and workers that are to be ejected after this event, with the reasons. */
  readonly ejected: Set<WorkerRecord>
  readonly accused: Map<WorkerRecord, Reason>
  /** Ejected workers that do not count as capacity, so that the scaler replaces them. */
  readonly writtenOff: Set<WorkerRecord>
  /** When the paces of all workers were compared last. */
  pacesComparedAt: number
  /** Attempts that stand still, to be judged after this event, and when workers were drained for such attempts. */
  readonly stalled: Map<Attempt, Stall>
  readonly stallDrains: number[]
  /** When workers were lost for their silence alone. */
  readonly silentLosses: number[]
  /** Times in which the brain itself did not run. */
  readonly pauses: OwnPauses
  /** Cores of ready workers, the work that they do in a second, and how many of the cores run a job. */
  cores: number
  capacity: number
  busyCores: number
  /** Cores of the worker that joined last. */
  coresEach: number
  readonly occupancy: Occupancy
  readonly boots: Boots
  /** Work per second of the fastest worker so far. */
  fastest: number
  /** Jobs that have a deadline. */
  readonly deadlines: Set<JobRecord>
  /** Jobs that are owed a turn. Some no longer are; they are skipped when they come up. */
  readonly owed: Heap<JobRecord>
  /** Jobs that have their turn now. */
  turns: number
  /** The next turn begins no earlier. */
  turnsFrom: number
  /** Attempts that ended together, and whose jobs have not been retried yet. */
  retrying: Attempt[]
  /** Sequence numbers used so far. */
  readonly seqs: { job: number; worker: number; launch: number; timer: number; placement: number }
  /** Failed launches in a row, and when the next launch may begin. */
  launchFailures: number
  launchNotBefore: number
  /** The time in which fronts and workers tell this brain what an earlier one had begun. */
  readonly recovery: Recovery
  /** What the provider's lists have shown. */
  readonly listing: Listing
  /** The last wake-up that was asked for. */
  wakeAt: number
  /** The time of the current event, and the actions that it has led to so far. */
  now: number
  actions: Action[]
  /** True: the scaler decides once the event has been handled. */
  rescale: boolean
}

type Parts = Pick<
  Core,
  | 'epoch'
  | 'limits'
  | 'scheduler'
  | 'scaler'
  | 'billing'
  | 'mostWorkers'
  | 'discipline'
  | 'rateLimits'
  | 'shares'
  | 'overflow'
  | 'retries'
>

export function newCore(parts: Parts, concerns: readonly Concern[]): Core {
  const core: Core = {
    ...parts,
    hooks: hooksOf([]),
    jobs: new Map(),
    workers: new Map(),
    launches: new Map(),
    queue: new Queue(),
    recentWork: new RecentWork(),
    backlog: { at: -1, queued: 0, placed: 0, running: 0 },
    returns: new ExpectedReturns(),
    timers: new Heap(),
    counters: {
      accepted: 0,
      results: 0,
      errors: 0,
      refused: 0,
      unknown: 0,
      cancelled: 0,
      retries: 0,
      superseded: 0,
      dropped: 0,
    },
    ready: 0,
    withoutSlots: 0,
    through: new Map(),
    draining: new Set(),
    held: new Set(),
    ejected: new Set(),
    accused: new Map(),
    writtenOff: new Set(),
    pacesComparedAt: 0,
    stalled: new Map(),
    stallDrains: [],
    silentLosses: [],
    pauses: new OwnPauses(),
    cores: 0,
    capacity: 0,
    busyCores: 0,
    coresEach: 1,
    occupancy: new Occupancy(),
    boots: new Boots(),
    fastest: 0,
    deadlines: new Set(),
    owed: new Heap(),
    turns: 0,
    turnsFrom: 0,
    retrying: [],
    seqs: { job: 0, worker: 0, launch: 0, timer: 0, placement: 0 },
    launchFailures: 0,
    launchNotBefore: 0,
    recovery: { isOver: parts.limits.recoverMs === 0, timer: undefined, absent: new Map() },
    listing: newListing(),
    wakeAt: Infinity,
    now: 0,
    actions: [],
    rescale: false,
  }
  core.hooks = hooksOf(concerns.filter(({ isActive }) => isActive?.(core) ?? true))
  return core
}

function hooksOf(concerns: readonly Concern[]): Hooks {
  const timers: Record<string, (core: Core, id: string) => void> = {}
  for (const { jobTimers = {}, timers: others } of concerns) {
    for (const [kind, fire] of Object.entries(jobTimers)) {
      timers[kind] = (core, id) => {
        const record = core.jobs.get(id)
        if (record) fire(core, record)
      }
    }
    Object.assign(timers, others)
  }
  const lists = hookNames.map((name) => [name, concerns.flatMap((concern) => concern[name] ?? [])])
  return { ...Object.fromEntries(lists), timers } as Hooks
}
